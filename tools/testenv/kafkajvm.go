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

// kafkaJVM starts Kafka's programs.
type kafkaJVM struct {
	java, jars string
	// archive is a class data sharing archive of Kafka's classes. With it a broker needs half the processor time to
	// start, for which tests that kill brokers wait on busy machines.
	archive string
}

// args returns the arguments to run a class. The JVM ignores an archive that does not match.
func (j kafkaJVM) args(heap, class string, more ...string) []string {
	out := []string{heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"} // the second compiler does not pay off in a test
	if j.archive != "" {
		out = append(out, "-XX:SharedArchiveFile="+j.archive)
	}
	return append(append(out, "-cp", filepath.Join(j.jars, "*"), class), more...)
}

func (j kafkaJVM) broker(settings string, options ...string) []string {
	return append(append(options, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"), j.args("-Xmx512m", "kafka.Kafka", settings)...)
}

// kafkaArchive returns the archive from the cache, or creates it from the classes that a broker loads until it is
// ready. It is valid for one JVM and for jars in this folder.
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
	// Write to another name first, so that the archive never exists incomplete.
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

// archiveKafka starts a broker that records the classes it loads, stops it gracefully so that the list is
// complete, and creates the archive.
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
