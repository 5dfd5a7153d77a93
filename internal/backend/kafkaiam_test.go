package backend

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sigv4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// mskBroker is a broker that accepts AWS_MSK_IAM only, and checks the signature with the SDK of AWS.
type mskBroker struct {
	t       *testing.T
	keys    map[string]aws.Credentials // by access key id
	address string

	mu       sync.Mutex
	accepted []map[string]string
}

func startMSK(t *testing.T, keys ...aws.Credentials) *mskBroker {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	b := &mskBroker{t: t, keys: map[string]aws.Credentials{}, address: cluster.ListenAddrs()[0]}
	for _, k := range keys {
		b.keys[k.AccessKeyID] = k
	}
	cluster.ControlKey(int16(kmsg.SASLHandshake), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		request, _ := r.(*kmsg.SASLHandshakeRequest)
		answer, _ := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
		answer.SupportedMechanisms = []string{"AWS_MSK_IAM"}
		if request.Mechanism != "AWS_MSK_IAM" {
			answer.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		}
		return answer, nil, true
	})
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		request, _ := r.(*kmsg.SASLAuthenticateRequest)
		answer, _ := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		if why := b.check(request.SASLAuthBytes); why != "" {
			answer.ErrorCode, answer.ErrorMessage = kerr.SaslAuthenticationFailed.Code, &why
		} else {
			answer.SASLAuthBytes = []byte(`{"version":"2020_10_22","request-id":"1"}`)
		}
		return answer, nil, true
	})
	return b
}

// check returns why a payload is refused; empty if it is accepted. The signature is computed a second time, by the SDK.
func (b *mskBroker) check(payload []byte) string {
	var got map[string]string
	if err := json.Unmarshal(payload, &got); err != nil {
		return err.Error()
	}
	scope := strings.Split(got["x-amz-credential"], "/")
	at, err := time.Parse("20060102T150405Z", got["x-amz-date"])
	if err != nil || len(scope) != 5 {
		return "malformed date or scope"
	}
	keys, known := b.keys[scope[0]]
	switch {
	case !known:
		return "unknown access key"
	case time.Since(at).Abs() > time.Minute, got["x-amz-expires"] != "300":
		return "expired"
	case got["version"] != "2020_10_22", got["action"] != "kafka-cluster:Connect", scope[3] != "kafka-cluster":
		return "not a request for this service"
	case got["x-amz-security-token"] != keys.SessionToken:
		return "session token"
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet,
		"https://"+got["host"]+"/?Action=kafka-cluster%3AConnect&X-Amz-Expires=300", http.NoBody)
	if err != nil {
		return err.Error()
	}
	const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	signed, _, err := sigv4.NewSigner().PresignHTTP(context.Background(), keys, request, nothing, "kafka-cluster", scope[2], at)
	if err != nil || !strings.Contains(signed, "X-Amz-Signature="+got["x-amz-signature"]) {
		return "signature does not match"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accepted = append(b.accepted, got)
	return ""
}

func TestAmazonMSK(t *testing.T) {
	lasting := aws.Credentials{AccessKeyID: "AKIALASTING", SecretAccessKey: "s3cr3t/lasting"}
	session := aws.Credentials{AccessKeyID: "ASIASESSION", SecretAccessKey: "s3cr3t/session", SessionToken: "token+/="}
	b := startMSK(t, lasting, session)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	for name, c := range map[string]struct {
		id, secret, token, region string
		refused                   string // empty: the broker accepts the credentials
	}{
		"lasting":        {lasting.AccessKeyID, lasting.SecretAccessKey, "", "eu-central-1", ""},
		"session":        {session.AccessKeyID, session.SecretAccessKey, session.SessionToken, "us-east-1", ""},
		"wrong secret":   {lasting.AccessKeyID, "s3cr3t/wrong", "", "eu-central-1", "SASL_AUTHENTICATION_FAILED"},
		"unknown":        {"AKIAUNKNOWN", "s3cr3t", "", "eu-central-1", "SASL_AUTHENTICATION_FAILED"},
		"no token":       {session.AccessKeyID, session.SecretAccessKey, "", "eu-central-1", "SASL_AUTHENTICATION_FAILED"},
		"no credentials": {"", "", "", "eu-central-1", "no AWS credentials: give this process a role"},
		"no region":      {lasting.AccessKeyID, lasting.SecretAccessKey, "", "", "region"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", c.id)
			t.Setenv("AWS_SECRET_ACCESS_KEY", c.secret)
			t.Setenv("AWS_SESSION_TOKEN", c.token)
			t.Setenv("AWS_REGION", c.region)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			before := len(b.accepted)
			opened := &Backend{}
			err := opened.openKafka(ctx, &Options{BusURL: "kafka://" + b.address + "?sasl=aws_msk_iam&prefix=" + strings.ReplaceAll(name, " ", ""), Partitions: 1})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("%v, want an error that names %s", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Bus.Close()
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.accepted) == before {
				t.Fatal("it connects without authentication")
			}
			if got := b.accepted[before]; !strings.HasPrefix(got["x-amz-credential"], c.id+"/") || !strings.Contains(got["x-amz-credential"], "/"+c.region+"/") || got["user-agent"] != "timerbus" {
				t.Errorf("authenticated with %v", got)
			}
		})
	}
}
