package tasks

import (
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// MakesTasks reports whether the server creates tasks for calls in the protocol revision that it
// uses.
func MakesTasks(u *pool.Server) bool {
	s := u.State()
	if u.Rev().TaskExtension {
		return spec.Declares(s.Capabilities, "extensions", spec.TasksExtension)
	}
	return spec.Declares(s.Capabilities, "tasks", "requests", "tools", "call")
}

// offered reports whether any server that is up creates tasks for clients of the given revision
// family, and declares an object at the given path in its capabilities. Servers of revision
// 2025-11-25 create tasks for clients of both families.
func (s *Tasks) offered(to *rev.Rev, keys ...string) bool {
	return slices.ContainsFunc(s.Servers(), func(u *pool.Server) bool {
		is := u.State()
		return is.Phase == upstream.Up && MakesTasks(u) && (to.TaskExtension || !u.Rev().TaskExtension) && spec.Declares(is.Capabilities, keys...)
	})
}

// WithCapability adds the tasks capability to o if any server supports it, in the form that the
// peer's revision requires.
func (s *Tasks) WithCapability(o rawjson.Object, a session.Peer) rawjson.Object {
	switch {
	case !s.offered(a.Rev):
	case a.Rev.TaskExtension:
		o = o.Raw("extensions", []byte(`{"`+spec.TasksExtension+`":{}}`))
	case a.Protocol >= spec.TasksSince:
		var tasks rawjson.Object
		for _, what := range [...]string{"list", "cancel"} {
			if s.offered(a.Rev, "tasks", what) {
				tasks = tasks.Raw(what, []byte(`{}`))
			}
		}
		o = o.Raw("tasks", tasks.Raw("requests", []byte(`{"tools":{"call":{}}}`)).Bytes())
	}
	return o
}

// WithTasks adds the tasks extension to a client's capabilities.
func WithTasks(capabilities []byte) []byte {
	return wire.AppendStamped(nil, capabilities, spec.TakesTasks())
}
