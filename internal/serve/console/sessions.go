package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// sessionsShown is the maximum number of sessions on one page.
const sessionsShown = 100

// sessionsBody holds the data for the page that lists all sessions and for the page about a single
// session.
type sessionsBody struct {
	Sessions []sessionRow
	Found    int // number of sessions that match the query
	First    int
	Next     string // URL of the next page; empty on the last page
	Query    string
	One      *sessionPage
}

// A sessionRow is one row in the list of sessions.
type sessionRow struct {
	operator.SessionInfo

	Link  string
	Moved []string // names of the nets that have left their initial marking
}

// sessions serves the list of all sessions, or the page of the requested one.
func (c *Console) sessions(w http.ResponseWriter, r *http.Request) {
	if id := r.FormValue("id"); id != "" {
		c.session(w, r, id)
		return
	}
	all, err := c.options.Proxy.ListSessions()
	if err != nil {
		c.fail(w, r, http.StatusServiceUnavailable, "The sessions cannot be listed: "+err.Error()+".")
		return
	}
	b := sessionsBody{Query: r.FormValue("q")}
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(s operator.SessionInfo) bool { return !sessionMatches(&s, b.Query) })
	b.Found = len(all)
	if b.First, _ = strconv.Atoi(r.FormValue("from")); b.First < 0 || b.First >= len(all) {
		b.First = 0
	}
	end := min(len(all), b.First+sessionsShown)
	if end < len(all) {
		b.Next = "/sessions?" + url.Values{"from": {strconv.Itoa(end)}, "q": {b.Query}}.Encode()
	}
	for _, s := range all[b.First:end] {
		if whole, err := c.options.Proxy.Session(s.ID); err == nil { // an error means that the session has just ended
			s.Nets, s.Calls = whole.Nets, whole.Calls
		}
		b.Sessions = append(b.Sessions, sessionRow{s, sessionLink(s.ID), moved(&s)})
	}
	c.show(w, r, "sessions", "Sessions", b)
}

func sessionLink(id string) string { return "/sessions?" + url.Values{"id": {id}}.Encode() }

// sessionMatches reports whether the session's ID, name and other displayed properties contain all
// words of the query.
func sessionMatches(s *operator.SessionInfo, query string) bool {
	return query == "" || containsWords(strings.Join(append([]string{s.ID, s.Name, s.By, s.Principal, s.Process}, s.Clients...), " "), query)
}

// moved lists the names of the session's nets that have left their initial marking.
func moved(s *operator.SessionInfo) []string {
	nets := list.Filter(s.Nets, func(n operator.NetInfo) bool { return n.Moved })
	return list.Map(nets, func(n operator.NetInfo) string { return n.Name })
}

// A sessionPage shows one session.
type sessionPage struct {
	operator.SessionInfo

	Link     string
	Nets     []sessionNet
	Shadow   *operator.ShadowInfo // report on the nets in shadow mode; nil if it is empty or not available
	Channels []string
	Reset    bool // whether to ask the person to confirm a reset
}

// A sessionNet is a net of a session, along with the URL of the net's drawing.
type sessionNet struct {
	operator.NetInfo

	Link string
}

func (c *Console) session(w http.ResponseWriter, r *http.Request, id string) {
	info, err := c.options.Proxy.Session(id)
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "There is no such session: it has ended, or belongs to another proxy.")
		return
	}
	p := &sessionPage{SessionInfo: info, Link: sessionLink(id), Reset: r.FormValue("reset") != ""}
	p.Nets = list.Map(info.Nets, func(n operator.NetInfo) sessionNet {
		return sessionNet{n, netsAddress{Net: n.Name, Session: id}.link()}
	})
	if shadow, err := c.options.Proxy.Shadow(id); err == nil && (shadow.Refused > 0 || shadow.Asked > 0 || len(shadow.Nets) > 0 || shadow.Policy) {
		p.Shadow = &shadow
	}
	if p.Channels, err = c.options.Proxy.ChannelsOf(id); err != nil {
		p.Channels = nil // the session has just ended
	}
	c.show(w, r, "sessions", "Session "+text.Escape(id), sessionsBody{One: p})
}

// reset handles the form that returns all nets of a session to their initial markings. It first
// asks the person to confirm.
func (c *Console) reset(w http.ResponseWriter, r *http.Request) {
	id := r.PostForm.Get("id")
	if r.PostForm.Get("confirmed") != "yes" {
		http.Redirect(w, r, sessionLink(id)+"&reset=ask#reset", http.StatusSeeOther)
		return
	}
	err := c.options.Proxy.ResetSession(id, actorOf(r))
	shown := text.Escape(id)
	c.finish(w, r, sessionLink(id), err, "Every net of the session "+shown+" is in its initial marking again.", "Session "+shown+" was not reset")
}

// settle handles the form that sets the outcome of a call whose outcome is unknown.
func (c *Console) settle(w http.ResponseWriter, r *http.Request) {
	id, outcome := r.PostForm.Get("id"), r.PostForm.Get("outcome")
	call, err := strconv.ParseUint(r.PostForm.Get("call"), 10, 64)
	if err != nil || outcome != "success" && outcome != "failure" {
		c.fail(w, r, http.StatusBadRequest, "The form lacks the call or its outcome.")
		return
	}
	err = c.options.Proxy.SettleCall(id, call, outcome == "success", actorOf(r))
	c.finish(w, r, sessionLink(id), err, fmt.Sprintf("Call %d is settled: %s.", call, outcome), fmt.Sprintf("Call %d was not settled", call))
}
