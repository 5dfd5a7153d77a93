package kafkabus

import "github.com/twmb/franz-go/pkg/kadm"

// Admin asks the brokers with a handle's rights.
func Admin(b *Bus) *kadm.Client { return b.admin }
