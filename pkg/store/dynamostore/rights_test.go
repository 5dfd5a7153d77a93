package dynamostore_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/internal/store/roletest"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
)

// policy is a file of deploy/dynamodb, as "ACTION RESOURCE" of each right.
type policy []string

func readPolicy(t *testing.T, role string) (rights policy) {
	t.Helper()
	text, err := os.ReadFile("../../../deploy/dynamodb/" + role + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version   string
		Statement []struct {
			Sid, Effect      string
			Action, Resource []string
		}
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil || file.Version != "2012-10-17" {
		t.Fatalf("%s.json: version %q, %v", role, file.Version, err)
	}
	for _, s := range file.Statement {
		if s.Effect != "Allow" {
			t.Fatalf("%s.json: effect %q", role, s.Effect)
		}
		for _, resource := range s.Resource {
			for _, action := range s.Action {
				rights = append(rights, strings.TrimPrefix(action, "dynamodb:")+" "+
					strings.TrimPrefix(resource, "arn:aws:dynamodb:REGION:ACCOUNT:table/"))
			}
		}
	}
	slices.Sort(rights)
	return rights
}

// enforcer sends the requests that a policy allows, and refuses others as AWS does. DynamoDB Local has no rights.
type enforcer struct {
	http.Transport

	table   string
	allowed policy

	mu   sync.Mutex
	used policy
}

// Do implements aws.HTTPClient.
func (e *enforcer) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(strings.NewReader(string(body)))
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	needed, err := e.needed(operation, body)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, right := range needed {
		if !slices.Contains(e.used, right) {
			e.used = append(e.used, right)
		}
		if !slices.Contains(e.allowed, right) {
			return &http.Response{
				StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Request: request,
				Body: io.NopCloser(strings.NewReader(`{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not authorized to perform ` + right + `"}`)),
			}, nil
		}
	}
	return e.Transport.RoundTrip(request)
}

// needed returns the rights that AWS requires for a request. A transaction needs those of its items.
func (e *enforcer) needed(operation string, body []byte) (rights []string, err error) {
	type target struct{ TableName string }
	var of struct {
		target

		IndexName     string
		Tags          []json.RawMessage
		RequestItems  map[string]json.RawMessage
		TransactItems []map[string]target
	}
	if err := json.Unmarshal(body, &of); err != nil {
		return nil, err
	}
	add := func(action, table, index string) {
		resource := strings.Replace(table, e.table, "timers", 1)
		if index != "" {
			resource += "/index/" + index
		}
		rights = append(rights, action+" "+resource)
	}
	for table := range of.RequestItems {
		add(operation, table, "")
	}
	for _, item := range of.TransactItems {
		for kind, at := range item {
			add(kind+"Item", at.TableName, "") // PutItem, UpdateItem, DeleteItem or ConditionCheckItem
		}
	}
	if of.TableName != "" {
		add(operation, of.TableName, of.IndexName)
	}
	if len(of.Tags) > 0 {
		add("TagResource", of.TableName, "")
	}
	return rights, nil
}

// TestPoliciesOfRoles: each role makes all its calls with the policy of deploy/dynamodb, and needs each right in it.
func TestPoliciesOfRoles(t *testing.T) {
	server := theServer(t)
	o := server.options(server.freeName(t))
	o.Tags = map[string]string{"team": "timers"}
	enforced := func(role string) (dynamostore.Options, *enforcer) {
		as := o
		e := &enforcer{table: o.Table, allowed: readPolicy(t, role)}
		as.HTTPClient = e
		return as, e
	}
	check := func(role string, e *enforcer) {
		t.Helper()
		slices.Sort(e.used)
		if !slices.Equal(e.used, e.allowed) {
			t.Errorf("%s uses\n%s\nand its policy allows\n%s", role, strings.Join(e.used, "\n"), strings.Join(e.allowed, "\n"))
		}
	}
	as, e := enforced("migrate")
	if _, _, err := dynamostore.Migrate(t.Context(), as); err != nil {
		t.Fatal(err)
	}
	check("migrate", e)
	owner := open(t, o)
	for _, role := range roletest.Roles() {
		as, e := enforced(role)
		s := open(t, as)
		calls := &roletest.Calls{Owner: owner, Store: s, Clock: present}
		if err := calls.Run(t.Context(), role); err != nil {
			t.Errorf("%s: %v", role, err)
		}
		check(role, e)
	}
}
