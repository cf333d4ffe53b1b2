package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// grant handles the form that approves a call and creates a grant, which approves similar calls in
// advance.
func (c *Console) grant(w http.ResponseWriter, r *http.Request) {
	v, id := visitorOf(r), r.PostForm.Get("id")
	g := operator.Grant{Like: r.PostForm["like"], Session: r.PostForm.Get("for") == "session"}
	var err error
	if !g.Session {
		g.For, err = time.ParseDuration(r.PostForm.Get("for"))
	}
	if err != nil || id == "" {
		c.fail(w, r, http.StatusBadRequest, "The form lacks the call or the duration.")
		return
	}
	err = c.options.Proxy.Answer(id, operator.Answer{
		Approve: true, Channel: c.channel(id), Person: v.ID, Actor: v.Name, PIN: r.PostForm.Get("pin"), Grant: &g,
	})
	done := fmt.Sprintf("%s is approved, and similar calls pass for %s. The grant is listed below and can be revoked.", id, g.Span())
	c.finish(w, r, "/inbox", err, done, text.Escape(id))
}

// revoke handles the form that revokes a grant.
func (c *Console) revoke(w http.ResponseWriter, r *http.Request) {
	id := r.PostForm.Get("id")
	err := c.options.Proxy.Revoke(id, visitorOf(r).Name)
	grant := "Grant " + text.Escape(id)
	c.finish(w, r, "/inbox#grants", err, grant+" is revoked: the next call requires approval.", grant+" was not revoked")
}
