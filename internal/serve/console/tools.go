package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// toolsShown is the maximum number of tools on one page.
const toolsShown = 500

// toolsBody holds the data for the tools page, which lists the tools and shows how a call to each
// of them would be decided now.
type toolsBody struct {
	Query    string
	Session  string // ID of the session whose state determines the decisions; empty for a new session
	Sessions []operator.SessionInfo
	Wrong    string // why the tools cannot be listed; empty if they can
	Tools    []toolRow
	Matching int
	All      int
	LeftOut  []string
	Warnings []string
	Changes  []operator.ToolChange
}

// A toolRow is one row in the list of tools.
type toolRow struct {
	operator.ToolInfo
	Hints []hint
}

// A hint describes a tool annotation in words.
type hint struct {
	Word   string
	Danger bool
}

func (c *Console) tools(w http.ResponseWriter, r *http.Request) {
	s := c.options.Proxy.Status()
	b := toolsBody{Query: r.FormValue("q"), Session: r.FormValue("session"), Sessions: c.options.Proxy.Sessions(), LeftOut: s.LeftOut, Warnings: s.Warnings}
	if c.options.Pins != nil {
		b.Changes = c.options.Pins.Changes()
	}
	tools, err := c.options.Proxy.Tools(b.Session)
	if err != nil {
		b.Wrong = err.Error()
	}
	b.All = len(tools)
	for _, t := range tools {
		b.Session = t.Session // if no session was requested and only one exists, the proxy chooses it
		if !toolMatches(t, b.Query) {
			continue
		}
		if b.Matching++; len(b.Tools) < toolsShown {
			b.Tools = append(b.Tools, toolRow{t, hintsOf(t.Annotations)})
		}
	}
	c.show(w, r, "tools", "Tools", b)
}

// accept accepts the tool definition that the page displayed.
func (c *Console) accept(w http.ResponseWriter, r *http.Request) {
	if c.options.Pins == nil {
		http.NotFound(w, r)
		return
	}
	tool := r.PostForm.Get("tool")
	err := c.options.Pins.Accept(tool, r.PostForm.Get("hash"), actorOf(r))
	c.finish(w, r, "/tools", err, text.Escape(tool)+" is accepted with its current definition.", text.Escape(tool)+" was not accepted")
}

// toolMatches reports whether the tool's names, description and other displayed properties contain
// all words of the query.
func toolMatches(t operator.ToolInfo, query string) bool {
	return containsWords(strings.Join([]string{t.Canonical, t.Bare, t.Exposed, t.Decision, t.Says, t.Description, t.Definition}, " "), query)
}

// hintsOf returns a hint for each annotation that the MCP specification defines.
func hintsOf(annotations json.RawMessage) (hints []hint) {
	var a struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	if json.Unmarshal(annotations, &a) != nil {
		return nil
	}
	add := func(said *bool, yes, no hint) {
		switch {
		case said == nil:
		case *said && yes.Word != "":
			hints = append(hints, yes)
		case !*said && no.Word != "":
			hints = append(hints, no)
		}
	}
	add(a.ReadOnly, hint{Word: "read-only"}, hint{Word: "writes"})
	add(a.Destructive, hint{Word: "destructive", Danger: true}, hint{Word: "not destructive"})
	add(a.Idempotent, hint{Word: "idempotent"}, hint{})
	add(a.OpenWorld, hint{Word: "open world"}, hint{Word: "closed world"})
	return hints
}

const (
	describedInShort = 140
	described        = 4 << 10
)

// InShort returns an excerpt from the beginning of the tool's description.
func (t toolRow) InShort() string { return text.Excerpt(firstLine(t.Description), describedInShort) }

// Long reports whether the tool's description is longer than the excerpt that InShort returns.
func (t toolRow) Long() bool {
	return len(t.Description) > describedInShort || strings.Contains(t.Description, "\n")
}

// Described returns the description of the tool.
func (t toolRow) Described() string {
	return text.EscapeLines([]byte(t.Description[:min(len(t.Description), described)]))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
