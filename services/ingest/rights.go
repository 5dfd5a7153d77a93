package ingest

import (
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
)

// require returns a refusal unless the caller has a right in a namespace.
func (o *origin) require(right access.Verb, namespace string) error {
	if o.caller.May(right, namespace) {
		return nil
	}
	return notAllowed(&o.caller, right, namespace, fmt.Sprintf("namespace %q", namespace))
}

// requireEverywhere returns a refusal unless the caller has a right in all namespaces.
func (o *origin) requireEverywhere(right access.Verb) error {
	if o.caller.MayEverywhere(right) {
		return nil
	}
	return notAllowed(&o.caller, right, access.AllNamespaces, "all namespaces")
}

func notAllowed(caller *access.Caller, right access.Verb, namespace, where string) *refusal {
	return &refusal{
		status: http.StatusForbidden, code: api.ErrorCodeForbidden,
		details: details{"caller": caller.Name, "verb": string(right), "namespace": namespace},
		message: fmt.Sprintf("%s needs the right to %s in %s, and has %s", caller.Name, right, where, caller.Rights()),
	}
}
