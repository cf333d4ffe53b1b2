package config

import (
	"fmt"
	"slices"
	"strings"
)

// Inline reports whether the text is part of the configuration file.
func (r RuleText) Inline() bool { return r.inline }

// WithRules returns a copy of c with text in place of Rules[i].Text. It does not read any files.
// The error is an [ErrorList].
func (c *Config) WithRules(i int, text string) (*Config, error) {
	other := *c
	other.Rules = slices.Clone(c.Rules)
	other.Rules[i].Text = text
	if strings.TrimSpace(text) != "" {
		return &other, nil
	}
	if c.Rules[i].inline {
		at := c.Rules[i].Position(1, 1)
		return nil, ErrorList{{File: at.File, Line: at.Line, Column: at.Column, Msg: "the rules are empty"}}
	}
	return nil, ErrorList{{File: c.Rules[i].File, Msg: fmt.Sprintf("the file %q is empty", c.Rules[i].File)}}
}

// WithNets returns a copy of c that has the nets parsed from text instead of the nets of the given
// file. It does not read any files. The error is an [ErrorList].
func (c *Config) WithNets(file, text string) (*Config, error) {
	if strings.TrimSpace(text) == "" {
		return nil, ErrorList{{File: file, Msg: fmt.Sprintf("the file %q is empty", file)}}
	}
	d := &decoder{source: &source{name: file}}
	nets := readNetFile(d, []byte(text))
	other := *c
	at := slices.IndexFunc(c.Nets, func(n Net) bool { return n.Position.File == file })
	other.Nets = slices.DeleteFunc(slices.Clone(c.Nets), func(n Net) bool { return n.Position.File == file })
	other.Nets = slices.Insert(other.Nets, min(max(at, 0), len(other.Nets)), nets...)
	if len(d.errs) == 0 {
		d.uniqueNets(other.Nets)
		checkVia(d, &other)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return &other, nil
}
