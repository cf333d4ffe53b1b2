package front

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// expireClients ends HTTP sessions that have been idle for the duration ttl. When the proxy shuts
// down, it cancels the calls of all clients and returns.
func (f *Front) expireClients(ttl time.Duration) {
	if ttl == 0 {
		ttl = time.Hour
	}
	tick := time.NewTicker(ttl / 8)
	defer tick.Stop()
	for {
		select {
		case <-f.Life.Ctx.Done():
			for _, c := range f.Sessions.Clients() {
				if _, overHTTP := c.Out.(*events.Push); overHTTP {
					c.Requests.CancelCalls(spec.ErrClosing)
				}
			}
			return
		case <-tick.C:
		}
		if f.Sessions.Shared() {
			f.expireShared(ttl)
			continue
		}
		asked := f.Asked()
		for _, c := range f.Sessions.Clients() {
			if f.idle(c, ttl, asked) {
				f.Life.Log.Info("session expired", "session", c.Session.ID)
				f.Router.EndClient(c)
			}
		}
	}
}

// idle reports whether a session has not been used for the duration ttl. A session is in use while
// it has an open request or stream. It is also in use while it has an approval that the client can
// still use by calling again.
func (f *Front) idle(c *session.Client, ttl time.Duration, asked map[string]bool) bool {
	push, ok := c.Out.(*events.Push)
	if !ok {
		return false
	}
	return f.Sessions.Idle(c, c.Requests.Any() || push.Listening() || asked[c.State.ID], ttl)
}

// expireShared ends HTTP sessions that no replica has used for the duration ttl. It tells the other
// replicas which sessions are in use here, and drops the clients of sessions that other replicas
// have ended.
func (f *Front) expireShared(ttl time.Duration) {
	open := map[string]admission.SessionInfo{}
	for s, err := range f.Router.Admission.Sessions.List(f.Life.Ctx) {
		if err != nil {
			f.Life.Log.Warn("cannot look for idle sessions", "error", err)
			return
		}
		if s.Lasting {
			open[s.Session] = s
		}
	}
	now, asked := f.Life.Now(), f.Asked()
	for _, c := range f.Sessions.Clients() {
		if _, overHTTP := c.Out.(*events.Push); !overHTTP || c.Session.About == nil {
			continue
		}
		if _, there := open[c.Session.ID]; !there || f.idle(c, ttl, asked) {
			f.Router.ForgetClient(c)
			continue
		}
		delete(open, c.Session.ID)
		if f.Sessions.Seen(c, now.Add(-ttl/4)) {
			if err := f.Router.Admission.Sessions.Touch(f.Life.Ctx, c.Session.Key(), now); err != nil {
				f.Life.Log.Warn("could not tell other processes that a session is in use", "session", c.Session.ID, "error", err)
			}
		}
	}
	for id, s := range open {
		if session.ReadAbout(s.About).Client != "" && !asked[id] && now.Sub(s.Used) > ttl+ttl/2 {
			f.Life.Log.Info("session expired", "session", id)
			if err := f.Router.Admission.Sessions.End(f.Life.Ctx, s.Key); err != nil {
				f.Life.Log.Warn("ending an idle session", "session", id, "error", err)
			}
		}
	}
}
