// Package storebench measures engines of pkg/store under loads for which their contract makes promises. Its results are
// for tables (`make bench-lists`); no duration makes a benchmark fail.
//
// It may import pkg/store, pkg/timer and pkg/shard, and no engine. Unlike storetest it reads the clock.
//
// Read lists.go: polls while clients list.
package storebench
