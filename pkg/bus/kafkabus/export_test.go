package kafkabus

import "github.com/twmb/franz-go/pkg/kadm"

// Admin returns an admin client with a handle's permissions.
func Admin(b *Bus) *kadm.Client { return b.admin }
