// Package manpage writes a manual page, in the macros of man(7), from what a program says of
// itself in its help.
package manpage

import (
	"fmt"
	"io"
	"strings"
)

// A Page is about a program.
type Page struct {
	Name, Summary, Version string
	Text, Flags            string // of its help
	Verbs                  []Verb
	Topics                 []Topic // behind the verbs
}

// A Verb is a command of the program.
type Verb struct {
	Usage         string // a line
	Short, Long   string // Long stands in the place of Short, where there is one
	Flags, Sample string // as the help shows them
}

// A Topic is a section of its own.
type Topic struct{ Title, Text string }

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\"\n", strings.ToUpper(p.Name), roff(p.Name), roff(p.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(p.Name), roff(p.Summary))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I command\n[arguments and flags]\n.SH DESCRIPTION\n", roff(p.Name))
	prose(&b, p.Text)
	b.WriteString(".SH OPTIONS\n")
	asIs(&b, p.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, v := range p.Verbs {
		fmt.Fprintf(&b, ".SS %s\n", roff(v.Usage))
		if v.Long == "" {
			v.Long = v.Short + "."
		}
		prose(&b, v.Long)
		asIs(&b, v.Flags)
		asIs(&b, v.Sample)
	}
	for _, t := range p.Topics {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(t.Title)))
		asIs(&b, t.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// prose writes paragraphs, whose lines are filled anew. Lines that are indented stay as they are.
func prose(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			asIs(b, paragraph)
			continue
		}
		b.WriteString(".PP\n")
		for line := range strings.SplitSeq(paragraph, "\n") {
			b.WriteString(roff(line) + "\n")
		}
	}
}

// asIs writes lines as they are; nothing where there are none.
func asIs(b *strings.Builder, text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	b.WriteString(".PP\n.nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff is a text in which nothing is a request or an escape.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
