//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// kafkaJVM is how Kafka's programs are started.
type kafkaJVM struct {
	java, jars string
	// archive holds Kafka's classes as the JVM has them in memory. A broker takes half the processor time to
	// start with it, and tests that kill brokers wait for that on machines that are busy with the tests.
	archive string
}

// args runs a class. An archive that does not fit is passed over by the JVM.
func (j kafkaJVM) args(heap, class string, more ...string) []string {
	out := []string{heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"} // the better compiler does not pay off within a test
	if j.archive != "" {
		out = append(out, "-XX:SharedArchiveFile="+j.archive)
	}
	return append(append(out, "-cp", filepath.Join(j.jars, "*"), class), more...)
}

func (j kafkaJVM) broker(settings string, options ...string) []string {
	return append(append(options, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"), j.args("-Xmx512m", "kafka.Kafka", settings)...)
}

// kafkaArchive finds the archive in the cache, or makes it: from the classes that a broker loads until it is
// ready. It belongs to one JVM and to the jars where they are.
func (s *site) kafkaArchive(ctx context.Context, jvm kafkaJVM) (string, error) {
	file, err := os.Stat(jvm.java)
	if err != nil {
		return "", fmt.Errorf("find java: %w", err)
	}
	digest := sha256.Sum256(fmt.Append(nil, jvm, file.Size(), file.ModTime()))
	archive := jvm.jars + "-" + hex.EncodeToString(digest[:6]) + ".jsa"
	unlock, err := lockCached(archive)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	fmt.Fprintf(s.log, "testenv: %s: archiving Kafka's classes (once)\n", s.name)
	own := &site{name: s.name + "-classes", cache: s.cache, folder: filepath.Join(s.folder, "classes"), log: s.log}
	made, err := own.archiveKafka(ctx, jvm)
	if err = errors.Join(err, own.close()); err != nil {
		return "", fmt.Errorf("archive Kafka's classes: %w", err)
	}
	// First beside its place: it appears whole or not at all.
	text, err := os.ReadFile(made)
	if err == nil {
		err = os.WriteFile(archive+".partial", text, 0o644) //nolint:gosec // the user who runs servers reads it
	}
	if err == nil {
		err = os.Rename(archive+".partial", archive)
	}
	if err = errors.Join(err, os.Remove(made)); err != nil {
		return "", fmt.Errorf("archive Kafka's classes: %w", err)
	}
	return archive, nil
}

// archiveKafka starts a broker that notes the classes it loads, ends it in good order so that the list is
// whole, and has them archived.
func (s *site) archiveKafka(ctx context.Context, jvm kafkaJVM) (string, error) {
	if err := s.makeFolder(s.folder); err != nil {
		return "", err
	}
	nodes, err := kafkaNodes(ctx, 1)
	if err != nil {
		return "", err
	}
	settings, err := s.formatKafka(ctx, jvm, s.name, nodes[0], nodes)
	if err != nil {
		return "", err
	}
	list, archive := filepath.Join(s.folder, "classes.lst"), filepath.Join(s.folder, "classes.jsa")
	err = s.run(ctx, program{
		name: s.name, path: jvm.java, quit: syscall.SIGTERM,
		args:  jvm.broker(settings, "-XX:DumpLoadedClassList="+list),
		ready: func(ctx context.Context, _ int) error { return kafkaReady(ctx, nodes[0].broker) },
	})
	if err != nil {
		return "", err
	}
	if err := s.close(); err != nil {
		return "", err
	}
	return archive, s.once(ctx, jvm.java, "-Xshare:dump", "-XX:SharedClassListFile="+list, "-XX:SharedArchiveFile="+archive,
		"-XX:+UseSerialGC", "-cp", filepath.Join(jvm.jars, "*"))
}
