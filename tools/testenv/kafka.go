//go:build unix

package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// kafka is Apache Kafka with one node, which is broker and controller. It has no container: brokers send their
// address to clients, so they must know their port before a container engine has chosen one.
func kafka() recipe {
	return recipe{name: "kafka", start: func(ctx context.Context, s *site) (string, error) { return s.startKafka(ctx, 1) }}
}

// kafka3 is a cluster of three brokers. Its internal topics have three replicas, and two of them must have a
// message.
func kafka3() recipe {
	return recipe{name: "kafka3", start: func(ctx context.Context, s *site) (string, error) { return s.startKafka(ctx, 3) }}
}

// kafkaTools is the variable with the class path of Kafka's console tools.
const kafkaTools = "TIMERBUS_TEST_KAFKA_TOOLS"

// kafkaNode contains the addresses of one node: for clients, for clients with authentication, for the other nodes.
type kafkaNode struct {
	id                       int
	broker, sasl, controller string
	wires                    []kafkaWire
}

// kafkaWire is a listener that advertises another address, which is free. A test listens there and forwards to
// the listener. It then controls every connection of a client that starts from the advertised address: clients connect to
// the addresses in the broker's metadata, so a proxy in front of an ordinary listener is bypassed.
type kafkaWire struct{ advertised, listener string }

// kafkaWires is how many wires a single node has. Nodes of clusters have none.
const kafkaWires = 2

// kafkaUser may connect to the listener with authentication, with PLAIN. Tests create other users for SCRAM.
const kafkaUser, kafkaPassword = "timerbus", "open-sesame"

// startKafka returns the brokers' addresses, separated by commas. Processes have the name of the server; with
// several nodes kafka3-1, kafka3-2 and so on.
func (s *site) startKafka(ctx context.Context, nodes int) (string, error) {
	jars, err := s.fetch(ctx, "kafka", nil)
	if err != nil {
		return "", err
	}
	java, err := findJava()
	if err != nil {
		return "", err
	}
	jvm := kafkaJVM{java: java, jars: jars}
	if jvm.archive, err = s.kafkaArchive(ctx, jvm); err != nil {
		return "", err
	}
	all, err := kafkaNodes(ctx, nodes)
	if err != nil {
		return "", err
	}
	// Nodes of a cluster answer only when a majority of them runs.
	group, ctx := errgroup.WithContext(ctx)
	addresses := make([]string, nodes)
	for i, n := range all {
		addresses[i] = n.broker
		name := s.name
		if nodes > 1 {
			name += "-" + strconv.Itoa(n.id)
		}
		group.Go(func() error { return s.runKafka(ctx, jvm, name, n, all) })
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	variable := "TIMERBUS_TEST_" + strings.ToUpper(s.name)
	s.extra = map[string]string{
		kafkaTools:         filepath.Join(jars, "*"),
		variable + "_SASL": kafkaUser + ":" + kafkaPassword + "@" + all[0].sasl,
	}
	if len(all[0].wires) > 0 {
		wires := make([]string, len(all[0].wires))
		for i, w := range all[0].wires {
			wires[i] = w.advertised + "=" + w.listener
		}
		s.extra[variable+"_WIRES"] = strings.Join(wires, ",")
	}
	return strings.Join(addresses, ","), nil
}

func kafkaNodes(ctx context.Context, nodes int) ([]kafkaNode, error) {
	wires := kafkaWires
	if nodes > 1 {
		wires = 0
	}
	ports, err := freePorts(ctx, 3*nodes+2*wires)
	if err != nil {
		return nil, err
	}
	next := func() (address string) {
		address, ports = "127.0.0.1:"+strconv.Itoa(ports[0]), ports[1:]
		return address
	}
	all := make([]kafkaNode, nodes)
	for i := range all {
		all[i] = kafkaNode{id: i + 1, broker: next(), sasl: next(), controller: next()}
	}
	for range wires {
		all[0].wires = append(all[0].wires, kafkaWire{advertised: next(), listener: next()})
	}
	return all, nil
}

func (s *site) runKafka(ctx context.Context, jvm kafkaJVM, name string, n kafkaNode, all []kafkaNode) error {
	settings, err := s.formatKafka(ctx, jvm, name, n, all)
	if err != nil {
		return err
	}
	return s.run(ctx, program{
		name: name,
		path: jvm.java,
		args: jvm.broker(settings),
		// After a graceful stop the last nodes of a cluster would look for a quorum; the data is removed in any case.
		quit:  syscall.SIGKILL,
		ready: func(ctx context.Context, _ int) error { return kafkaReady(ctx, n.broker) },
	})
}

// formatKafka creates a node's folder and returns its settings file.
func (s *site) formatKafka(ctx context.Context, jvm kafkaJVM, name string, n kafkaNode, all []kafkaNode) (string, error) {
	data := filepath.Join(s.folder, name)
	if err := s.makeFolder(data); err != nil {
		return "", err
	}
	settings := filepath.Join(s.folder, name+".properties")
	//nolint:gosec // the user who runs servers reads it
	if err := os.WriteFile(settings, []byte(kafkaSettings(n, all, data)), 0o644); err != nil {
		return "", fmt.Errorf("settings of %s: %w", name, err)
	}
	cluster := base64.RawURLEncoding.EncodeToString([]byte("timerbus-testenv"))
	return settings, s.once(ctx, jvm.java, jvm.args("-Xmx128m", "kafka.tools.StorageTool", "format", "-t", cluster, "-c", settings)...)
}

// kafkaSettings lets the brokers apply retention twice a second, so that a test need not wait five minutes, and
// enforce ACLs: clients without credentials and kafkaUser may do everything; other users may do everything for which there
// is no ACL.
func kafkaSettings(n kafkaNode, all []kafkaNode, data string) string {
	voters := make([]string, len(all))
	for i, v := range all {
		voters[i] = strconv.Itoa(v.id) + "@" + v.controller
	}
	var listeners, advertised, protocols string
	for i, w := range n.wires {
		listeners += fmt.Sprintf(",WIRE%d://%s", i+1, w.listener)
		advertised += fmt.Sprintf(",WIRE%d://%s", i+1, w.advertised)
		protocols += fmt.Sprintf(",WIRE%d:PLAINTEXT", i+1)
	}
	replicas, insync := len(all), (len(all)+1)/2
	return fmt.Sprintf(`process.roles=broker,controller
node.id=%d
controller.quorum.voters=%s
listeners=PLAINTEXT://%[3]s,SASL://%[4]s,CONTROLLER://%[5]s%[11]s
advertised.listeners=PLAINTEXT://%[3]s,SASL://%[4]s%[12]s
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT%[13]s
listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,OAUTHBEARER
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_%[9]s="%[10]s";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
  unsecuredLoginStringClaim_sub="broker";
log.dirs=%[6]s
group.initial.rebalance.delay.ms=0
default.replication.factor=%[7]d
min.insync.replicas=%[8]d
offsets.topic.replication.factor=%[7]d
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=%[7]d
transaction.state.log.min.isr=%[8]d
auto.create.topics.enable=false
log.initial.task.delay.ms=500
log.retention.check.interval.ms=500
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:%[9]s
allow.everyone.if.no.acl.found=true
`, n.id, strings.Join(voters, ","), n.broker, n.sasl, n.controller, data, replicas, insync, kafkaUser, kafkaPassword,
		listeners, advertised, protocols)
}

// kafkaReady sends an ApiVersions request (version 0), which the broker answers as soon as it accepts
// requests.
func kafkaReady(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	const apiVersions, correlation, noClientID = 18, 7, 0xffff
	request := binary.BigEndian.AppendUint16(nil, apiVersions)
	request = binary.BigEndian.AppendUint16(request, 0)
	request = binary.BigEndian.AppendUint32(request, correlation)
	request = binary.BigEndian.AppendUint16(request, noClientID)
	request = append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)
	if _, err := conn.Write(request); err != nil {
		return err
	}
	var answer [10]byte // size, correlation id, error code
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if id, code := binary.BigEndian.Uint32(answer[4:]), binary.BigEndian.Uint16(answer[8:]); id != correlation || code != 0 {
		return fmt.Errorf("answer %d with error %d", id, code)
	}
	return nil
}
