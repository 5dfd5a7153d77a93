package ingest

import (
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
)

// require returns a refusal unless the caller may do something in a namespace.
func (o *origin) require(do access.Verb, namespace string) error {
	if o.caller.May(do, namespace) {
		return nil
	}
	return notAllowed(&o.caller, do, namespace, fmt.Sprintf("namespace %q", namespace))
}

// requireEverywhere returns a refusal unless the caller may do something that concerns all namespaces.
func (o *origin) requireEverywhere(do access.Verb) error {
	if o.caller.MayEverywhere(do) {
		return nil
	}
	return notAllowed(&o.caller, do, access.AllNamespaces, "all namespaces")
}

func notAllowed(caller *access.Caller, do access.Verb, namespace, where string) *refusal {
	return &refusal{
		status: http.StatusForbidden, code: api.ErrorCodeForbidden,
		details: details{"caller": caller.Name, "verb": string(do), "namespace": namespace},
		message: fmt.Sprintf("%s needs the right to %s in %s, and has %s", caller.Name, do, where, caller.Rights()),
	}
}
