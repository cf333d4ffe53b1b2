package console

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

//go:embed pages
var pageFiles embed.FS

// pages returns the templates. A template must pass all text from outside the console through
// plain, lines or json, unless the Go code has already escaped the text. Otherwise, the text could
// look like text of the console itself, because html/template escapes only markup. The templates
// are parsed when the first page is shown, because most processes of this program never show a
// page. For example, agents start a process for each hook event.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(pageFiles, "pages/*.html"))
})

var functions = template.FuncMap{
	"plain":  text.Escape,
	"lines":  func(s string) string { return text.EscapeLines([]byte(s)) },
	"json":   indented,
	"keys":   members,
	"count":  text.Count,
	"group":  text.Grouped,
	"ago":    ago,
	"left":   func(now, t time.Time) string { return text.Duration(max(t.Sub(now), 0)) },
	"stamp":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":  func(t time.Time) string { return t.Local().Format("15:04:05") },
	"day":    func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") },
	"tab":    tabOf,
	"card":   cardOf,
	"file":   fileOf,
	"stepto": stepTo,
	"does":   commandOf,
	"less":   func(n int) int { return n - 1 },
}

// ago formats the duration from a given time until now. The given time is a [time.Time] or a
// pointer to one. If the pointer is nil, ago returns "some time".
func ago(now time.Time, at any) string {
	t, ok := at.(time.Time)
	if p, is := at.(*time.Time); is && p != nil {
		t, ok = *p, true
	}
	if !ok {
		return "some time"
	}
	return text.Duration(max(now.Sub(t), 0))
}

// indented formats a JSON value with one member per line.
func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if value = text.PlainJSON(value); json.Indent(&b, value, "", "  ") != nil {
		b.Reset()
		b.Write(value)
	}
	return text.EscapeLines(b.Bytes())
}

// A page holds the data common to all pages of the console.
type page struct {
	Title   string
	View    string // name of the selected tab, such as "inbox" or "activity"; empty if none is selected
	Visitor visitor
	Now     time.Time
	Notes   []note // messages about the results of submitted forms
	Waiting int
	Shadow  bool
	Stopped []operator.StopInfo
	Grants  bool // whether a person who approves a call can also approve similar calls in advance
	PIN     bool // whether a PIN is required for actions that could let a call pass
	Version string
	Config  string
	Body    any
}

type visitorKey struct{}

func withVisitor(ctx context.Context, v visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

func visitorOf(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

// actorOf returns the person who sent a form, together with the PIN entered in the form.
func actorOf(r *http.Request) operator.Actor {
	return operator.Actor{Name: visitorOf(r).Name, PIN: r.PostForm.Get("pin")}
}

// show writes a page, using the named template.
func (c *Console) show(w http.ResponseWriter, r *http.Request, view, title string, body any) {
	s := c.options.Proxy.Status()
	p := page{
		Title: title, View: view, Visitor: visitorOf(r), Now: c.options.Now(), Notes: c.logins.takeNotes(r),
		Grants: c.options.Grants, PIN: s.PIN,
		Waiting: s.Waiting, Shadow: s.Shadow, Stopped: s.Stopped, Version: s.Version, Config: s.Config, Body: body,
	}
	c.write(w, http.StatusOK, view, p)
}

// fail writes an error page.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, code int, what string) {
	c.write(w, code, "failure", page{Title: http.StatusText(code), Visitor: visitorOf(r), Now: c.options.Now(), Body: what})
}

// write writes a complete page. If the template fails, it writes only an error.
func (c *Console) write(w http.ResponseWriter, code int, name string, p page) {
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name, p); err != nil {
		c.options.Log.Error("console page not rendered", "page", name, "error", err)
		http.Error(w, "The page cannot be rendered; see petrigate's log.", http.StatusInternalServerError)
		return
	}
	send(w, code, b.Bytes())
}

func send(w http.ResponseWriter, code int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", fmt.Sprint(len(page)))
	w.WriteHeader(code)
	_, _ = w.Write(page) // an error means that the browser has disconnected
}

// finish redirects the browser to another page after an action. That page shows the success message
// if err is nil, and otherwise the failure message followed by the error.
func (c *Console) finish(w http.ResponseWriter, r *http.Request, next string, err error, done, failed string) {
	if err != nil {
		done = failed + ": " + err.Error() + "."
	}
	c.logins.addNote(r, done, err)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// A tab is a link to one of the console's views.
type tab struct {
	View, Label string
	Here        bool
	Count       int
}

func tabOf(p page, view, label string) tab {
	t := tab{View: view, Label: label, Here: p.View == view || viewOf[p.View] == view}
	if view == "inbox" {
		t.Count = p.Waiting
	}
	return t
}

// viewOf maps the name of a page that has no tab to the name of the tab to highlight on that page.
var viewOf = map[string]string{"question": "inbox", "confirm": "inbox", "call": "activity", "stop": "health"}

// A card displays an approval on a page.
type card struct {
	Page     page
	Approval operator.ApprovalInfo
	Choose   bool // whether to add a checkbox for answering several approvals together
}

func cardOf(p page, a operator.ApprovalInfo, choose bool) card { return card{p, a, choose} }

// Grantable reports whether the person can also approve similar calls in advance.
func (c card) Grantable() bool {
	return c.Page.Grants && c.Approval.Needs == 0 && c.Approval.Masked == 0 && len(c.Approval.Arguments) > 0
}

// members returns the member names of a JSON object.
func members(object json.RawMessage) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}
