package webhook

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/petrigate/petrigate/internal/operator"
)

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}` +
	`pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:1rem;border-radius:.5rem}` +
	`button{font:inherit;padding:.6rem 1.6rem}input{font:inherit;width:100%;box-sizing:border-box;margin:.3rem 0 1rem}:root{color-scheme:light dark}`

// page is the template for linked pages. It contains no script.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>{{.Title}}</title><style>` + style + `</style></head>
<body><h1>{{.Title}}</h1>
{{with .Question}}<pre>{{.}}</pre>{{end}}
{{with .Button}}<form method="post"><label>Reason (optional)<input name="reason" maxlength="1000" autocomplete="off"></label>
<button type="submit">{{.}}</button></form>
<p>Nothing happens until you press the button. Without an answer the call is denied.</p>{{end}}
</body></html>
`))

// contentPolicy allows only the page's own style and form.
var contentPolicy = "default-src 'none'; style-src 'sha256-" + hashOf(style) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// pageData is the data for the page template.
type pageData struct{ Title, Question, Button string }

// protect sets headers that keep the page out of caches and frames, and keep the address of the
// page out of Referer headers.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// servePage serves the page that a link opens. The page shows the call and a button for the
// decision. Opening the page has no effect; only the button applies the decision.
func (h *Hook) servePage(w http.ResponseWriter, r *http.Request) {
	t, err := h.readLink(r)
	if err != nil {
		h.writePage(w, statusOf(err), pageData{Title: "Not found", Question: err.Error()})
		return
	}
	a, err := h.Approvals.MaskedApproval(r.PathValue("id"), h.maskedForPage)
	switch {
	case err != nil || !h.signer.isAbout(t.nonce, a):
		h.writePage(w, http.StatusNotFound, pageData{Title: "Not found", Question: errNotFound.Error()})
	case a.State != operator.Pending:
		h.writePage(w, http.StatusGone, pageData{Title: "Approval " + a.ID + " is " + a.State.Word() + " already", Question: a.Question})
	case t.approve:
		h.writePage(w, http.StatusOK, pageData{"Approve this call?", a.Question, "Approve"})
	default:
		h.writePage(w, http.StatusOK, pageData{"Deny this call?", a.Question, "Deny"})
	}
}

// serveLink applies the decision of a link after the person has pressed the button on its page.
func (h *Hook) serveLink(w http.ResponseWriter, r *http.Request) {
	t, err := h.readLink(r)
	reason := ""
	if err == nil {
		reason, err = readReason(r)
	}
	id := r.PathValue("id")
	if err == nil {
		err = h.answer(id, t.nonce, operator.Answer{Approve: t.approve, Actor: linkActor, Reason: reason})
	}
	if err != nil {
		h.logRefused(r, err)
		h.writePage(w, statusOf(err), pageData{Title: "This does not count", Question: err.Error()})
		return
	}
	v := pageData{Title: "Denied: " + id}
	if t.approve {
		v.Title = "Approved: " + id
	}
	if h.Approvals.ApprovalState(id) == operator.Pending {
		v.Question = "The call is waiting for another person."
	}
	h.writePage(w, http.StatusOK, v)
}

// readLink parses the link in a request and verifies its signature, without looking up the
// approval.
func (h *Hook) readLink(r *http.Request) (ticket, error) {
	t, ok := h.signer.ticket(r.PathValue("id"), r.PathValue("token"))
	switch {
	case !ok:
		return t, errNotFound
	case !h.Now().Before(t.expires):
		return t, refuse(http.StatusGone, "the link has expired: no one answered in time, which counts as a denial")
	}
	return t, nil
}

// readReason returns the reason entered in the page's form, or "" if the body is not a form.
func readReason(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", tooLong(err)
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" {
		return "", nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || len(form.Get("reason")) > maxReason {
		return "", refuse(http.StatusBadRequest, "the form cannot be read, or the reason has more than %d bytes", maxReason)
	}
	return form.Get("reason"), nil
}

func (h *Hook) writePage(w http.ResponseWriter, status int, v pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, v)
}
