// Package storebench measures engines of pkg/store under loads that their contract promises something about. Its
// figures are for tables that are printed (`make bench-lists`); nothing here passes or fails by a duration.
//
// It may import pkg/store, pkg/timer and pkg/shard, and knows no engine. Unlike storetest it reads the clock.
//
// Read lists.go: polls while clients list.
package storebench
