package main

import (
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/petrigate/petrigate/internal/docpage"
)

// TestPageCommandsParse checks that all commands on all pages use existing commands and flags.
// Package examples compares the output of the commands.
func TestPageCommandsParse(t *testing.T) {
	commands := 0
	for _, b := range docpage.All(t, "../..") {
		script := b.Script()
		if script == "" {
			continue
		}
		for _, words := range commandsOf(t, b, script) {
			commands++
			if err := validate(words); err != nil {
				t.Errorf("%s:%d: %q: %v", b.Page, b.Line, words, err)
			}
		}
	}
	if commands < 45 {
		t.Errorf("only %d commands were found", commands)
	}
}

// TestInlineCommandsParse checks the commands in inline code on the pages.
func TestInlineCommandsParse(t *testing.T) {
	commands := 0
	code := regexp.MustCompile("`petrigate ([a-z][^`\n]*)`")
	for name, text := range docpage.Prose(t, "../..") {
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			commands++
			root := newRoot(stdio{})
			words := strings.Fields(m[1])
			c, rest, err := root.Find(words)
			if err != nil || c == root || c.HasSubCommands() && len(rest) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(rest[0]) {
				t.Errorf("%s: there is no %q", name, m[1])
				continue
			}
			for _, word := range rest {
				if word == "--" {
					break
				}
				if flag := regexp.MustCompile(`^\[?--([a-z-]+)`).FindStringSubmatch(word); flag != nil && c.Flag(flag[1]) == nil {
					t.Errorf("%s: %q has no flag --%s", name, m[1], flag[1])
				}
			}
		}
	}
	if commands < 80 {
		t.Errorf("only %d commands were found", commands)
	}
}

// commandsOf returns the petrigate commands in a script, without the program name.
func commandsOf(t *testing.T, b docpage.Block, script string) (found [][]string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(script), b.Page)
	if err != nil {
		t.Errorf("%s:%d: no shell reads this: %v", b.Page, b.Line, err)
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "petrigate" {
			return true
		}
		var words []string
		for _, w := range call.Args[1:] {
			word, err := expand.Literal(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "x" })}, w)
			if err != nil {
				t.Errorf("%s:%d: %v", b.Page, b.Line, err)
			}
			words = append(words, word)
		}
		found = append(found, words)
		return true
	})
	return found
}

// validate returns the usage error for a command without running it.
func validate(words []string) error {
	root := newRoot(stdio{})
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return wrongFlag(c, err)
	}
	if c.HasSubCommands() {
		return refuseUnknownVerb(c, c.Flags().Args())
	}
	if c.DisableFlagParsing || c.Args == nil {
		return nil
	}
	return c.ValidateArgs(c.Flags().Args())
}
