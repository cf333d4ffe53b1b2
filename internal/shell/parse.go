package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Limits on the work spent on a script. A script that exceeds a limit counts as a script that might
// run any command. maxName is an exception: a command with a longer name is only excluded from
// look-ups by name.
const (
	maxScript = 1 << 20 // maximum length of a script in bytes
	maxWeight = 20_000  // maximum nesting of a script, as estimated by the function weight
	maxPieces = 25_000  // maximum number of pieces (words and separators) in a script; see the function pieces
	maxWork   = 40_000  // maximum total number of pieces in a script and the scripts nested in it
	maxArgs   = 100_000 // maximum total number of arguments of all commands; an argument counts again if a wrapper, such as timeout, passes it on
	maxLooks  = 100_000 // maximum number of comparisons of an argument with a pattern, for all patterns together
	maxName   = 1024    // maximum length of a command name in bytes; file systems allow 255
	maxDepth  = 10_000  // maximum nesting depth of nodes
	maxTexts  = 16      // maximum nesting depth of scripts, as in sh -c "sh -c ..."

	piecesOfParser = 8 // number of pieces added for each call of the parser, because even an empty script causes work
)

// parse parses a script. It returns an error if the parser panics.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = syntax.ParseError{Text: "the parser gave up"}
		}
	}()
	for range maxCommentRounds {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil {
			return nil, err
		}
		ended := endComments(file, text)
		if ended == text {
			return file, nil
		}
		text = ended
	}
	return nil, syntax.ParseError{Text: "a comment that ends with a backslash hides the next line"}
}

// maxCommentRounds is the maximum number of attempts to parse a script. Whenever endComments has
// changed the script, it must be parsed again, because other comments may then need the same
// change.
const maxCommentRounds = 8

// endComments returns a copy of text. If a comment ends with a backslash, the copy has a space in
// place of the backslash. In a shell, the newline ends both the comment and the command before it,
// but the parser would continue the command on the next line.
func endComments(file *syntax.File, text string) string {
	if !strings.Contains(text, "#") || !strings.Contains(text, "\\\n") {
		return text
	}
	ended := []byte(text)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is && strings.HasSuffix(c.Text, "\\\n") {
			begin := int(c.Hash.Offset()) //nolint:gosec // offsets fit in an int
			if i := strings.Index(text[begin:], "\\\n"); i >= 0 {
				ended[begin+i] = ' '
			}
		}
		return true
	})
	return string(ended)
}

// unreadableReason returns the reason why text must not be parsed, or "" if it can be parsed. For
// example, text with control characters or unusual spaces must not be parsed, because a shell and a
// person may read these characters differently.
func unreadableReason(text string) string {
	if len(text) > maxScript {
		return "a script that is too long"
	}
	if !utf8.ValidString(text) {
		return "a script that is not UTF-8"
	}
	for _, c := range text {
		switch {
		case c == '\n' || c == '\t' || ' ' <= c && c < 0x7f:
		case c >= utf8.RuneSelf && unicode.IsPrint(c): // the most common case outside ASCII, so checked first
		case c < utf8.RuneSelf, unicode.Is(unicode.C, c), unicode.IsSpace(c), unicode.Is(unicode.Z, c):
			return "a control character or an unusual space"
		}
	}
	if weight(text) > maxWeight {
		return "a script that may be nested too deeply"
	}
	return ""
}

// weight returns an upper bound on the parser's recursion depth for text, in units of roughly three
// kilobytes of stack. It returns 0 if the text is too short for deep recursion. The bound is needed
// because the parser does not limit its recursion.
func weight(text string) int {
	if len(text) < 1<<10 {
		return 0
	}
	n := 3*strings.Count(text, "(") + 2*strings.Count(text, "{") + 2*strings.Count(text, "[")
	for _, op := range []string{"|", "&", "!", "?", "~", "=", "+", "-", ":"} {
		n += strings.Count(text, op)
	}
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "time", "coproc", "function"} {
		n += 2 * strings.Count(text, word)
	}
	return n
}

// pieces returns an upper bound on the parser's work: the number of words in text plus the number
// of characters that can split a word.
func pieces(text string) int {
	n, before := 0, 1
	for i := range len(text) {
		kind := kinds[text[i]]
		n += int(kind>>1) + before&^int(kind)
		before = int(kind & 1)
	}
	return n
}

// kinds maps each byte to its kind: 1 for white space, 2 for any other character that can split a
// word, and 0 for all other bytes.
var kinds = func() (k [256]byte) {
	for _, c := range []byte(" \t\n") {
		k[c] = 1
	}
	for _, c := range []byte(";&|<>()$`'\"{}[") {
		k[c] = 2
	}
	return k
}()
