package main

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/rules"
)

// verbs returns all commands that a user can run, starting with the root command.
func verbs(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if (sub.IsAvailableCommand() || sub.Name() == "help") && sub.Name() != "completion" {
			all = append(all, verbs(sub)...)
		}
	}
	return all
}

func quietRoot() *cobra.Command {
	return newRoot(stdio{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
}

// TestHelpIsComplete checks that each command has a one-line summary, an example, and a description
// of the values of its flags.
func TestHelpIsComplete(t *testing.T) {
	for _, c := range verbs(quietRoot()) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || strings.ToUpper(c.Short[:1]) != c.Short[:1] {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
		if c.Example == "" && !c.HasSubCommands() {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, line := range strings.Split(c.LocalFlags().FlagUsages(), "\n") {
			if regexp.MustCompile(`--[a-z-]+ (string|int|stringArray|float)`).MatchString(line) {
				t.Errorf("%s: the flag does not say what it takes: %s", c.CommandPath(), strings.TrimSpace(line))
			}
			if len(line) > 150 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), len(line), line)
			}
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if len(line) > 120 {
				t.Errorf("%s: a line of %d characters: %s", c.CommandPath(), len(line), line)
			}
		}
	}
}

// TestHelpExamplesParse checks that the examples in help texts are valid command lines.
func TestHelpExamplesParse(t *testing.T) {
	shown := 0
	for _, c := range verbs(quietRoot()) {
		for _, line := range strings.Split(c.Example, "\n") {
			if line == "" {
				continue
			}
			shown++
			words := split(line)
			root := quietRoot()
			found, rest, err := root.Find(words[1:])
			if err != nil || words[0] != "petrigate" || c.HasParent() && found.CommandPath() != c.CommandPath() {
				t.Errorf("%s: %q is about %s: %v", c.CommandPath(), line, found.CommandPath(), err)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if all := strings.Count(firstSteps+exampleLines, "\n") - 2; shown != all {
		t.Errorf("%d lines of %d are shown: of the others there is no such verb", shown, all)
	}
}

// split splits a line as a shell does, as far as the examples require it.
func split(line string) []string {
	line, _, _ = strings.Cut(line, " > ")
	var words []string
	for _, word := range regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(word, `'"`))
	}
	return words
}

// TestRulesTopicParses checks that each rule on the page is valid.
func TestRulesTopicParses(t *testing.T) {
	seen := 0
	for _, line := range strings.Split(rulesTopic, "\n") {
		rule, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), "  ")
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "    ") {
			continue
		}
		seen++
		if _, errs := rules.Parse("topic", []byte(rule+"\n")); len(errs) > 0 {
			t.Errorf("%q: %v", rule, errs)
		}
	}
	if seen < 15 {
		t.Errorf("the page has %d rules", seen)
	}
}

// TestEnvironmentTopicNamesSettings checks that the program reads each setting named on the page.
func TestEnvironmentTopicNamesSettings(t *testing.T) {
	var asked []string
	_, err := config.Bare(config.Options{Env: func(name string) (string, bool) {
		asked = append(asked, name)
		return "", false
	}})
	if err != nil {
		t.Fatal(err)
	}
	asked = append(asked, "PETRIGATE_CONFIG", "PETRIGATE_RUNTIME_DIR")
	for _, name := range regexp.MustCompile(`PETRIGATE_[A-Z_]+`).FindAllString(environmentTopic, -1) {
		if !slices.Contains(asked, name) {
			t.Errorf("nothing reads %s", name)
		}
	}
}

// TestExitCodesTopicIsComplete checks that the page lists every exit code.
func TestExitCodesTopicIsComplete(t *testing.T) {
	for code := exitOK; code <= exitUpstream; code++ {
		if !strings.Contains("\n"+exitTopic, "\n  "+strconv.Itoa(code)+"  ") {
			t.Errorf("the page does not say what %d means", code)
		}
	}
}
