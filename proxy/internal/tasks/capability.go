package tasks

import (
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// MakesTasks reports whether a server creates tasks for calls, in the revision that it speaks.
func MakesTasks(u *pool.Server) bool {
	s := u.State()
	if u.Rev().TaskExtension {
		return spec.Declares(s.Capabilities, "extensions", spec.TasksExtension)
	}
	return spec.Declares(s.Capabilities, "tasks", "requests", "tools", "call")
}

// offered reports whether some server that is up creates tasks for clients of the revision to, and
// has an object under the keys of its capabilities. Servers of 2025-11-25 create tasks for clients
// of both families of revisions.
func (s *Tasks) offered(to *rev.Rev, keys ...string) bool {
	return slices.ContainsFunc(s.Servers(), func(u *pool.Server) bool {
		is := u.State()
		return is.Phase == upstream.Up && MakesTasks(u) && (to.TaskExtension || !u.Rev().TaskExtension) && spec.Declares(is.Capabilities, keys...)
	})
}

// WithCapability adds the tasks capability to o, in the form for the peer's revision and only if a
// server supports it.
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

// WithTasks adds the tasks extension to the capabilities of a client.
func WithTasks(capabilities []byte) []byte {
	b := append([]byte(nil), capabilities[:len(capabilities)-1]...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(b, spec.TakesTasks()[1:]...)
}
