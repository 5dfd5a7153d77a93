//go:build unix

// Command testenv starts the servers that tests need, hands their addresses over in the environment, runs
// a command, and stops it all:
//
//	go run ./tools/testenv --need postgres,postgres15 -- go test ./...
//
// Without a command it prints the addresses and waits for an interrupt. It owns how servers are had; it
// imports nothing of the product, and never stores anything outside its cache and a temporary folder.
//
// The address of the server NAME is in TIMERBUS_TEST_NAME. If it is there already, that server is used.
// Otherwise a container is started, where a Docker engine answers and has the image; otherwise packages
// are fetched by their Maven coordinates (packages.txt) into a cache that survives. What was needed is also
// listed in TIMERBUS_REQUIRE, and tests fail, rather than skip, for what is listed there. For processes
// that testenv started itself, TIMERBUS_TESTENV is the address of a small server that kills, freezes and
// starts them again (control.go). With Kafka comes TIMERBUS_TEST_KAFKA_TOOLS, the class path of its console
// tools, and TIMERBUS_TEST_KAFKA_SASL, USER:PASSWORD@HOST:PORT of where it asks who comes (KAFKA3 for kafka3).
// TIMERBUS_TEST_KAFKA_WIRES lists ADVERTISED=LISTENER pairs: listeners of the broker that advertise a free address, where a
// test can listen and forward, to cut a client off from the broker (kafka.go).
//
// Makefile asks for what the test files of the packages under test name in a line like
//
//	//testenv:need postgres postgres15
//
// To add a server, write a file like postgres.go and give it a line in recipes (recipe.go). Read main.go
// first, then recipe.go, site.go (what a recipe works with), process.go, packages.go, container.go.
package main
