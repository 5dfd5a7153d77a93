// Package hidden is internal.
package hidden

// Visible is exported.
const Visible = 1
