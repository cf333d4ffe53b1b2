package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	questionsShown = 25 // maximum number of pending approvals on a page, each shown with full details
	answersShown   = 40 // maximum number of approvals on a page that are no longer pending
	maxReason      = 1 << 10
)

// inboxBody holds the data for the inbox. Pending approvals are listed oldest first, all others
// newest first.
type inboxBody struct {
	Questions []operator.ApprovalInfo
	First     int // index of the first approval on this page
	Pending   int // number of pending approvals on all pages
	Next      int // index of the first approval on the next page; 0 if this is the last page
	History   []operator.ApprovalInfo
	Query     string // words to search for in the approvals that are no longer pending
	Ended     int    // total number of approvals that are no longer pending and match the query
	Grants    []operator.GrantInfo
}

func (c *Console) inbox(w http.ResponseWriter, r *http.Request) {
	b := inboxBody{Query: r.FormValue("q")}
	b.First, _ = strconv.Atoi(r.FormValue("from"))
	pending, ended := c.splitApprovals(b.Query)
	b.Pending, b.Ended = len(pending), len(ended)
	if b.First < 0 || b.First >= len(pending) {
		b.First = 0
	}
	if b.First+questionsShown < len(pending) {
		b.Next = b.First + questionsShown
	}
	b.Questions = c.addDetails(pending[b.First:min(len(pending), b.First+questionsShown)])
	b.Grants = c.options.Proxy.Grants()
	b.History = ended[:min(len(ended), answersShown)]
	c.show(w, r, "inbox", "Inbox", b)
}

// splitApprovals returns the pending approvals, oldest first, and the other approvals that match
// the query, newest first.
func (c *Console) splitApprovals(query string) (pending, ended []operator.ApprovalInfo) {
	for _, a := range c.options.Proxy.Approvals() {
		if a.State == operator.Pending {
			pending = append(pending, a)
		} else if approvalMatches(a, query) {
			ended = append(ended, a)
		}
	}
	slices.Reverse(ended)
	return pending, ended
}

// approvalMatches reports whether the text displayed for an approval that has ended contains all
// words of the query.
func approvalMatches(a operator.ApprovalInfo, query string) bool {
	shown := strings.Join([]string{a.ID, string(a.State), a.State.Word(), a.Upstream, a.Tool, a.Session, a.Principal, a.Actor, a.Channel, a.Reason}, " ")
	for _, r := range a.Rejections {
		shown += " " + r.String()
	}
	return containsWords(shown, query)
}

// containsWords reports whether the text contains all words of the query, ignoring case.
func containsWords(text, query string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// addDetails adds to each approval all details that a person must see before answering. It leaves
// an approval unchanged if the proxy no longer has it.
func (c *Console) addDetails(list []operator.ApprovalInfo) []operator.ApprovalInfo {
	all := slices.Clone(list)
	for i, a := range all {
		if one, err := c.options.Proxy.Approval(a.ID); err == nil {
			all[i] = one
		}
	}
	return all
}

// showQuestion serves the page about a single approval. Notifications link to this page.
func (c *Console) showQuestion(w http.ResponseWriter, r *http.Request) {
	a, err := c.options.Proxy.Approval(r.PathValue("id"))
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "There is no such approval: it ended a while ago, or belongs to another proxy.")
		return
	}
	c.show(w, r, "question", "Approval "+a.ID, a)
}

// answer handles the form that answers approval requests. If the form lists more than one request,
// the person must first confirm the answer.
func (c *Console) answer(w http.ResponseWriter, r *http.Request) {
	ids, decision := r.PostForm["id"], r.PostForm.Get("decision")
	approve := decision == "approve"
	switch {
	case !approve && decision != "deny":
		c.fail(w, r, http.StatusBadRequest, "The form contains neither approve nor deny.")
		return
	case len(ids) == 0:
		c.logins.addNote(r, "Nothing was selected, so nothing was answered.", errNotAnswered)
	case len(ids) > questionsShown:
		c.fail(w, r, http.StatusBadRequest, fmt.Sprintf("One form answers at most %d approvals.", questionsShown))
		return
	case len(ids) > 1 && r.PostForm.Get("confirmed") != "yes":
		c.confirm(w, r, ids, approve)
		return
	}
	for _, id := range ids {
		line, err := c.answerOne(r, id, approve)
		c.logins.addNote(r, line, err)
	}
	http.Redirect(w, r, localPath(r.PostForm.Get("next")), http.StatusSeeOther)
}

// errNotAnswered means that no answer was sent, because the form selects no approval or the reason
// is too long.
var errNotAnswered = errors.New("nothing was answered")

// answerOne answers one approval and returns a description of the result.
func (c *Console) answerOne(r *http.Request, id string, approve bool) (line string, err error) {
	v := visitorOf(r)
	reason := r.PostForm.Get("reason")
	if len(reason) > maxReason {
		return fmt.Sprintf("%s was not answered: the reason is longer than %d bytes.", id, maxReason), errNotAnswered
	}
	err = c.options.Proxy.Answer(id, operator.Answer{Approve: approve, Channel: c.channel(id), Person: v.ID, Actor: v.Name, Reason: reason, PIN: r.PostForm.Get("pin")})
	if err != nil {
		return fmt.Sprintf("%s was not answered: %v.", text.Escape(id), err), err
	}
	a, err := c.options.Proxy.Approval(id)
	switch {
	case !approve:
		return id + " is denied.", nil
	case err == nil && a.State == operator.Pending:
		return fmt.Sprintf("%s is approved by %d of %d people; it is waiting for another one.", id, a.Approvals, a.Needs), nil
	}
	return id + " is approved, once. The call runs now, or when the agent makes it again.", nil
}

// channel returns the channel to record for an answer given in the console. This is the web
// channel, unless the approval allows the URL channel but not the web channel.
func (c *Console) channel(id string) string {
	a, err := c.options.Proxy.Approval(id)
	if err == nil && slices.Contains(a.Channels, approval.URL) && !slices.Contains(a.Channels, approval.Web) {
		return approval.URL
	}
	return approval.Web
}

// confirmBody holds the data for the page that asks the person to confirm several answers at once.
type confirmBody struct {
	Approve   bool
	Questions []operator.ApprovalInfo
	Gone      []string
	Reason    string
	Next      string
	PIN       bool // whether a PIN is required
}

// confirm serves the page that lists the approvals to be answered together and asks for
// confirmation.
func (c *Console) confirm(w http.ResponseWriter, r *http.Request, ids []string, approve bool) {
	b := confirmBody{Approve: approve, Reason: r.PostForm.Get("reason"), Next: localPath(r.PostForm.Get("next"))}
	for _, id := range ids {
		a, err := c.options.Proxy.Approval(id)
		if err != nil || a.State != operator.Pending {
			b.Gone = append(b.Gone, id)
			continue
		}
		b.Questions = append(b.Questions, a)
		b.PIN = b.PIN || approve && a.PIN
	}
	c.show(w, r, "confirm", "Confirm", b)
}
