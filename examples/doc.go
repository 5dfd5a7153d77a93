// Package examples holds one program per folder, each a Timerbus and what a user does with it. README.md lists them.
//
// This package owns nothing but the test that runs them all and compares what they print (output_test.go).
package examples
