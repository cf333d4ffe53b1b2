package rev

import (
	"slices"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Rev is one of the two families of revisions. There are two values, which are
// compared by their addresses and never change.
type Rev struct {
	// PerRequest: each request carries the capabilities of its client in _meta; else
	// initialize has declared them for the session.
	PerRequest bool

	// InputRequired: a server asks for input by the result of a call
	// (input_required), which the client makes again with the answers and the
	// requestState; else by a request to the client while the call is open.
	InputRequired bool

	// CompleteURL: an elicitation in URL mode has an id, by which
	// notifications/elicitation/complete tells its end.
	CompleteURL bool

	// LevelInMeta: the _meta of a request says which log messages the client wants
	// with it, and without that there are none; else logging/setLevel says it.
	LevelInMeta bool

	// Subscriptions: a client is told of changes to lists and resources on the
	// streams of subscriptions/listen; else to each that has seen the list, or has
	// sent resources/subscribe.
	Subscriptions bool

	// TaskExtension: tasks are the extension io.modelcontextprotocol/tasks: a server
	// makes one of a call where it likes, of a client that takes tasks, and shows
	// the result in it. Else the client asks for a task (params.task) and fetches the
	// result by tasks/result.
	TaskExtension bool

	// ResultType: every result has the member resultType.
	ResultType bool

	// NoResource is the code of the error for a resource that nobody has.
	NoResource int

	lacks []string // methods of the other family
}

// The two families.
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

// Of returns the family that a message of a client is of.
func Of(m wire.Meta) *Rev { return OfVersion(m.ProtocolVersion) }

// OfVersion returns the family of a revision; empty: none is known yet.
func OfVersion(version string) *Rev {
	if version >= "2026-07-28" {
		return Rev2026
	}
	return Rev2025
}

// Lacks reports whether a method is of the other family alone.
func (r *Rev) Lacks(method string) bool { return slices.Contains(r.lacks, method) }

// cacheable are the methods whose results say how long they may be kept, where
// every result says what it is.
var cacheable = [...]string{"resources/list", "resources/templates/list", "prompts/list", "resources/read"}

// Result returns a result of a method as a client of r gets it, of a server of
// either family. resultType belongs to the hop, like the revision.
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
