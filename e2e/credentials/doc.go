// Package credentials tests how processes prove their identity to NATS and Kafka servers.
package credentials
