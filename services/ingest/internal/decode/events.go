package decode

// ReadEvents decodes the body of events/stream, and returns the namespace.
func ReadEvents(body []byte) (namespace string, err error) {
	namespace = DefaultNamespace
	err = members(body, []string{"namespace"}, func(name string, v value) (err error) {
		if !v.isNull() {
			namespace, err = readNamespace(name, v)
		}
		return err
	})
	return namespace, err
}
