// Package manpage writes a manual page in the man(7) macros from the help texts of a program.
package manpage

import (
	"fmt"
	"io"
	"strings"
)

// A Page is the manual page of a program.
type Page struct {
	Name, Summary, Version string
	Text, Flags            string // description and flags, as in the program's help text
	Verbs                  []Verb
	Topics                 []Topic // sections that follow the commands
}

// A Verb is a command of the program.
type Verb struct {
	Usage         string // usage line
	Short, Long   string // description; a nonempty Long is used instead of Short
	Flags, Sample string // preformatted text, as in the help text
}

// A Topic is an additional section.
type Topic struct{ Title, Text string }

// Write writes the page to w.
func (p *Page) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\"\n", strings.ToUpper(p.Name), escape(p.Name), escape(p.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(p.Name), escape(p.Summary))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I command\n[arguments and flags]\n.SH DESCRIPTION\n", escape(p.Name))
	prose(&b, p.Text)
	b.WriteString(".SH OPTIONS\n")
	preformatted(&b, p.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, v := range p.Verbs {
		fmt.Fprintf(&b, ".SS %s\n", escape(v.Usage))
		if v.Long == "" {
			v.Long = v.Short + "."
		}
		prose(&b, v.Long)
		preformatted(&b, v.Flags)
		preformatted(&b, v.Sample)
	}
	for _, t := range p.Topics {
		fmt.Fprintf(&b, ".SH %s\n", escape(strings.ToUpper(t.Title)))
		preformatted(&b, t.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// prose writes paragraphs that man(1) may rewrap. An indented paragraph is written as preformatted
// text.
func prose(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			preformatted(b, paragraph)
			continue
		}
		b.WriteString(".PP\n")
		for line := range strings.SplitSeq(paragraph, "\n") {
			b.WriteString(escape(line) + "\n")
		}
	}
}

// preformatted writes preformatted lines. It writes nothing if text is empty.
func preformatted(b *strings.Builder, text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	b.WriteString(".PP\n.nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(escape(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// escape escapes a line so that man(1) finds no requests or escape sequences in it.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
