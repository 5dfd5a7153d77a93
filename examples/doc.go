// Package examples contains one program per folder. Each runs a Timerbus and uses it. README.md lists them.
//
// This package itself contains only the test that runs all examples and compares their output (output_test.go).
package examples
