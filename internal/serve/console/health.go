package console

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// healthBody holds the data for the health page.
type healthBody struct {
	operator.Status
	Running []operator.SessionInfo
	Counts  *counts
	Asked   *approvalCounts
	Stands  journalStatus
	Faults  []string // problems that need attention, worst first
}

// sessionsListed is the maximum number of sessions listed in the form that stops calls.
const sessionsListed = 200

func (c *Console) health(w http.ResponseWriter, r *http.Request) {
	b := healthBody{Status: c.options.Proxy.Status(), Running: c.options.Proxy.Sessions()}
	b.Running = b.Running[:min(len(b.Running), sessionsListed)]
	b.Counts = countCalls(c.journal.all(), c.options.Now())
	b.Asked = countApprovals(c.options.Proxy.Approvals())
	b.Stands = c.journal.status()
	b.Faults = faults(&b.Status)
	c.show(w, r, "health", "Health", &b)
}

// faults returns a sentence for each problem of the proxy that needs attention.
func faults(s *operator.Status) (all []string) {
	if s.State.Error != "" {
		all = append(all, "Calls are refused because state cannot be read or written: "+s.State.Error)
	}
	if s.Audit != nil && s.Audit.Error != "" {
		all = append(all, "Calls are refused because decisions cannot be recorded: "+s.Audit.Error)
	}
	for _, u := range s.Upstreams {
		if u.State != "up" && u.State != "starting" {
			all = append(all, fmt.Sprintf("The upstream %s is %s: %s", u.Name, u.State, u.Error))
		}
	}
	if s.ReloadProblem != "" {
		all = append(all, "The changed configuration was not applied: "+firstLine(s.ReloadProblem))
	}
	if n := len(s.State.Unknown); n > 0 {
		all = append(all, text.Subject(n, "call", "has", "have")+" an unknown outcome, from processes that have ended: a person must settle them")
	}
	return all
}

// A stopBody holds the data for the page that asks the person to confirm that all calls are stopped
// or allowed again.
type stopBody struct {
	On      bool
	Session string
	Reason  string
}

// stop handles the form that stops calls. It asks the person to confirm before it makes the proxy
// refuse calls.
func (c *Console) stop(w http.ResponseWriter, r *http.Request) {
	session, reason := r.PostForm.Get("session"), strings.TrimSpace(r.PostForm.Get("reason"))
	if r.PostForm.Get("confirmed") != "yes" {
		c.show(w, r, "stop", "Confirm", stopBody{On: true, Session: session, Reason: reason})
		return
	}
	done, err := c.options.Proxy.Stop(session, visitorOf(r).Name, reason)
	c.logins.addNote(r, stopNotice(true, session, done, err), err)
	http.Redirect(w, r, "/health", http.StatusSeeOther)
}

// start handles the form that allows calls again. It asks the person to confirm before it makes the
// proxy accept calls.
func (c *Console) start(w http.ResponseWriter, r *http.Request) {
	session := r.PostForm.Get("session")
	if r.PostForm.Get("confirmed") != "yes" {
		c.show(w, r, "stop", "Confirm", stopBody{Session: session})
		return
	}
	done, err := c.options.Proxy.StartAgain(session, actorOf(r))
	c.logins.addNote(r, stopNotice(false, session, done, err), err)
	http.Redirect(w, r, "/health", http.StatusSeeOther)
}

// stopNotice returns the sentence that tells the person the result of stopping calls or of allowing
// them again.
func stopNotice(on bool, session string, done operator.Stopping, err error) string {
	what, where := "All calls", ", until this proxy exits"
	if session != "" {
		what = "The calls of session " + session
	}
	if done.Shared {
		where = ", in all proxies with this database"
	}
	switch {
	case err != nil && on:
		return fmt.Sprintf("%s were not stopped: %v.", what, err)
	case err != nil:
		return fmt.Sprintf("%s are still stopped: %v.", what, err)
	case done.Alone != "" && on:
		return fmt.Sprintf("%s are refused by this proxy only: %s.", what, done.Alone)
	case done.Alone != "":
		return fmt.Sprintf("%s pass again in this proxy only: %s.", what, done.Alone)
	case on && done.Already:
		return what + " were already stopped."
	case on:
		return what + " are refused from now on" + where + "."
	case done.Already:
		return what + " were allowed already."
	}
	return what + " pass again, as the policy allows."
}
