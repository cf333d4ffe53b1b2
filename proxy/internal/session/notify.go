package session

import (
	"bytes"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// IsNews reports whether a message says that something has changed, which is
// said as well by one such message as by several.
func IsChange(message []byte) bool {
	const head = `{"jsonrpc":"2.0","method":"`
	return bytes.HasPrefix(message, []byte(head+spec.ListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.PromptsListChanged+`"`)) ||
		bytes.HasPrefix(message, []byte(head+spec.ResourcesListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+spec.ResourceUpdated+`"`))
}

// filterOf is the member of the filter of subscriptions/listen that asks for a
// notification.
func filterOf(method string) string {
	switch method {
	case spec.ListChanged:
		return "toolsListChanged"
	case spec.PromptsListChanged:
		return "promptsListChanged"
	}
	return "resourcesListChanged"
}

// SubscriptionParams are the params of a message on a subscription: every one
// names the request that opened it.
func SubscriptionParams(id, rest string) []byte {
	return []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + rest + `}`)
}
