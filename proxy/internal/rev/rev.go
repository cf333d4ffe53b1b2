package rev

import (
	"slices"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Rev is one of the two families of revisions. The two values are compared by address and never
// change.
type Rev struct {
	// PerRequest: each request carries the client's capabilities in _meta. Otherwise initialize
	// declares them for the session.
	PerRequest bool

	// InputRequired: a server asks for input by the result of a call (input_required), and the
	// client sends the call again with the answers and the requestState. Otherwise the server sends
	// a request to the client while the call is open.
	InputRequired bool

	// CompleteURL: an elicitation in URL mode has an id, and notifications/elicitation/complete
	// announces its end.
	CompleteURL bool

	// LevelInMeta: the _meta of a request sets the level of the log messages during it; without a
	// level there are no messages. Otherwise logging/setLevel sets the level.
	LevelInMeta bool

	// Subscriptions: clients get notifications about lists and resources on the streams of
	// subscriptions/listen. Otherwise clients get them that have fetched the list or sent
	// resources/subscribe.
	Subscriptions bool

	// TaskExtension: tasks are the extension io.modelcontextprotocol/tasks. A server can create a
	// task for any call of a client that supports tasks, and puts the result into the task.
	// Otherwise the client asks for a task (params.task) and fetches the result with tasks/result.
	TaskExtension bool

	// ResultType: every result has the member resultType.
	ResultType bool

	// NoResource is the error code for an unknown resource.
	NoResource int

	lacks []string // methods that exist only in the other family
}

// The two families of revisions.
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

// Of returns the family of a revision. An empty version means that none is known yet.
func Of(version string) *Rev {
	if version >= "2026-07-28" {
		return Rev2026
	}
	return Rev2025
}

// Lacks reports whether a method exists only in the other family.
func (r *Rev) Lacks(method string) bool { return slices.Contains(r.lacks, method) }

// cacheable are the methods whose results tell how long they can be cached, in the family with
// ResultType.
var cacheable = [...]string{"resources/list", "resources/templates/list", "prompts/list", "resources/read"}

// Result converts the result of a method, from a server of either family, for a client of r.
// resultType belongs to the hop, like the revision.
func (r *Rev) Result(result []byte, method string) []byte {
	switch typed := wire.ResultFacts(result).Type != wire.TypeAbsent; {
	case r.ResultType == typed:
		return result
	case typed:
		return wire.AppendWithout(nil, result, "resultType")
	case slices.Contains(cacheable[:], method):
		return wire.AppendStamped(nil, result, []byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`))
	default:
		return wire.AppendStamped(nil, result, []byte(`{"resultType":"complete"}`))
	}
}
