// Package shard places timers: which shard a timer id falls into, and which partition of the bus
// carries that shard.
//
// It may import pkg/timer and the standard library; it never looks at stores or buses. The placement
// is for life: a timer whose shard came out differently in a later release could not be found again,
// so testdata/placement.json pins it for every implementation in any language.
package shard
