package lsp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/rules"
)

// formatting returns the edit that turns a document into the output of the fmt command. It returns
// nil if the document has syntax errors, which appear as diagnostics.
func (s *server) formatting(d *document, _ Position) any {
	out, err := rules.Format([]byte(d.src))
	if err != nil {
		return nil
	}
	now := string(out)
	if strings.Contains(d.src, "\r\n") {
		now = strings.ReplaceAll(now, "\n", "\r\n")
	}
	if now == d.src {
		return []textEdit{}
	}
	from, to, write := changed(d.src, now)
	return []textEdit{{d.span(from, to), write}}
}

// changed returns the edit that turns the old text into the new one: the byte range of the lines to
// replace, and the new text for this range.
func changed(was, is string) (from, to int, write string) {
	n := 0
	for n < min(len(was), len(is)) && was[n] == is[n] {
		n++
	}
	from = strings.LastIndexByte(was[:n], '\n') + 1
	m := 0
	for m < min(len(was), len(is))-from && was[len(was)-1-m] == is[len(is)-1-m] {
		m++
	}
	if i := strings.IndexByte(was[len(was)-m:], '\n'); i >= 0 {
		m -= i + 1
	} else {
		m = 0
	}
	return from, len(was) - m, is[from : len(is)-m]
}

// symbols returns the statements of a document.
func (s *server) symbols(d *document, _ Position) any {
	f, _ := rules.Parse(d.path, []byte(d.src))
	all := []documentSymbol{}
	for _, st := range f.Statements {
		at := st.Position()
		from, to := d.place(at.Line, at.Column), d.place(at.Line, 1<<30)
		symbol := documentSymbol{Name: st.String(), Kind: symbolMethod, Range: d.span(from, to), SelectionRange: d.span(from, to)}
		switch st := st.(type) {
		case *rules.Map:
			symbol.Kind, symbol.Detail = symbolConstant, st.As.Text
		case *rules.Prove, *rules.Example, *rules.Success:
			symbol.Kind = symbolEvent
		}
		all = append(all, symbol)
	}
	return all
}

// definition returns the locations of the map statements that define the name at a position.
func (s *server) definition(d *document, p Position) any {
	c := d.cursor(p)
	at := c.word()
	if at < 0 {
		return nil
	}
	name := rules.Name{Text: c.words[at].name(), Quoted: c.words[at].kind == quoted}
	all := []location{}
	sources := sources{project: &project{main: d.path}, open: s.documents(), texts: map[string]*content{}}
	for w, m := range mapsIn(s.rulesOf(d)) {
		if isURL(m.Pos.File) || !name.Matches(m.As.Text) {
			continue
		}
		t := w.text
		if t == nil {
			t = sources.text(m.Pos.File)
		}
		from, to := t.place(m.Pos.Line, m.Pos.Column), t.place(m.Pos.Line, 1<<30)
		all = append(all, location{sources.uri(m.Pos.File), t.span(from, to)})
	}
	return all
}

// codeActions returns the replacements suggested by the hints in the diagnostics.
func codeActions(params json.RawMessage) (any, error) {
	var p codeActionParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	actions := []codeAction{}
	for _, raw := range p.Context.Diagnostics {
		var d diagnostic
		if json.Unmarshal(raw, &d) != nil || d.Source != "petrigate" || d.Data == nil || d.Data.Write == "" {
			continue
		}
		actions = append(actions, codeAction{
			Title: fmt.Sprintf("Write %s", d.Data.Write), Kind: "quickfix", IsPreferred: true,
			Diagnostics: []json.RawMessage{raw},
			Edit:        workspaceEdit{map[string][]textEdit{p.TextDocument.URI: {{d.Range, d.Data.Write}}}},
		})
	}
	return actions, nil
}
