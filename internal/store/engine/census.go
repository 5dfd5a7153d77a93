package engine

// MaxDead is how many dead timers a count looks at, because it looks for a live row of each.
const MaxDead = 100_000
