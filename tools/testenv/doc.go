//go:build unix

// Command testenv starts the servers that tests need, runs a command with their addresses in its environment, and
// then stops the servers:
//
//	go run ./tools/testenv --need postgres,postgres15 -- go test ./...
//
// Without a command it prints the addresses and waits for an interrupt. It owns the installation and the processes of
// test servers. It imports nothing of the product, and writes only to its cache and a temporary folder.
//
// The address of the server NAME is in TIMERBUS_TEST_NAME. If the variable is already set, testenv uses that server.
// Otherwise it starts a container, if a Docker engine answers and has the image. Otherwise it downloads packages by their
// Maven coordinates (packages.txt), MySQL from Debian (mysql.go), into a permanent cache; NATS and Kubernetes it builds from
// their Go modules. TIMERBUS_REQUIRE lists all needed servers; tests fail, instead of skipping, if a server in this list is
// missing. For processes that testenv started itself, TIMERBUS_TESTENV is the address of a small server that kills, freezes and
// restarts them (control.go). The address of kubernetes is the path of a kubeconfig.
// PostgreSQL requires passwords only from members of the role with_password, which tests may create.
// With Kafka, TIMERBUS_TEST_KAFKA_TOOLS is the class path of its console tools, and TIMERBUS_TEST_KAFKA_SASL is
// USER:PASSWORD@HOST:PORT of the listener that requires authentication (KAFKA3 for kafka3). TIMERBUS_TEST_KAFKA_WIRES
// lists ADVERTISED=LISTENER pairs: listeners of the broker that advertise a free address, where a test can listen and
// forward, to cut a client off from the broker (kafka.go).
//
// Makefile collects the needed servers from lines of the test files such as
//
//	//testenv:need postgres postgres15
//
// To add a server, write a file like postgres.go and add a line to recipes (recipe.go). Read main.go
// first, then recipe.go, site.go (the environment of a recipe), process.go, packages.go, container.go.
package main
