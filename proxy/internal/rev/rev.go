package rev

import (
	"slices"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Rev describes one of the two revision families. Each family has exactly one Rev, which never
// changes, so Revs are compared by address.
type Rev struct {
	// PerRequest means that each request contains the client's capabilities in _meta. If PerRequest
	// is false, initialize declares them for the session.
	PerRequest bool

	// InputRequired means that a server asks for input in the result of a call (input_required).
	// The client then sends the call again with the answers and the requestState. If InputRequired
	// is false, the server sends a request to the client while the call is open.
	InputRequired bool

	// CompleteURL means that an elicitation in URL mode has an ID, and that
	// notifications/elicitation/complete announces its end.
	CompleteURL bool

	// LevelInMeta means that the _meta of a request sets the level of the log messages sent while
	// the request runs. Without a level, no messages are sent. If LevelInMeta is false,
	// logging/setLevel sets the level.
	LevelInMeta bool

	// Subscriptions means that clients receive notifications about lists and resources on the
	// streams of subscriptions/listen. If Subscriptions is false, these notifications go to the
	// clients that have fetched the list or sent resources/subscribe.
	Subscriptions bool

	// TaskExtension means that tasks follow the extension io.modelcontextprotocol/tasks. A server
	// may then create a task for any call from a client that supports tasks, and the task contains
	// the result. If TaskExtension is false, the client asks for a task (params.task) and fetches
	// the result with tasks/result.
	TaskExtension bool

	// ResultType means that each result has a resultType.
	ResultType bool

	// NoResource is the error code for an unknown resource.
	NoResource int

	lacks []string // methods that exist only in the other revision family
}

// The two revision families.
var (
	Rev2025 = &Rev{
		CompleteURL: true,
		NoResource:  -32002,
		lacks:       []string{"server/discover", "subscriptions/listen", "tasks/update"},
	}
	Rev2026 = &Rev{
		PerRequest:    true,
		InputRequired: true,
		LevelInMeta:   true,
		Subscriptions: true,
		TaskExtension: true,
		ResultType:    true,
		NoResource:    -32602,
		lacks: []string{
			"logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/result",
			"notifications/roots/list_changed",
		},
	}
)

// Of returns the family of a revision. If the version is empty, because the revision is not known
// yet, Of returns Rev2025.
func Of(version string) *Rev {
	if version >= "2026-07-28" {
		return Rev2026
	}
	return Rev2025
}

// Lacks reports whether the method exists only in the other revision family.
func (r *Rev) Lacks(method string) bool { return slices.Contains(r.lacks, method) }

// cacheableMethods lists the methods whose results must contain a cache lifetime in revisions that
// require a resultType. It omits tools/list, because the proxy builds that result itself.
var cacheableMethods = [...]string{"resources/list", "resources/templates/list", "prompts/list", "resources/read"}

// Result converts the result of a method to the form that clients of family r require. It adds or
// removes a resultType if necessary. If it adds one, it also adds a cache lifetime if the method
// requires one. The server can be of either family.
func (r *Rev) Result(result []byte, method string) []byte {
	switch typed := wire.ResultFacts(result).Type != wire.TypeAbsent; {
	case r.ResultType == typed:
		return result
	case typed:
		return wire.AppendWithout(nil, result, "resultType")
	case slices.Contains(cacheableMethods[:], method):
		return wire.AppendStamped(nil, result, []byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`))
	default:
		return wire.AppendStamped(nil, result, []byte(`{"resultType":"complete"}`))
	}
}
