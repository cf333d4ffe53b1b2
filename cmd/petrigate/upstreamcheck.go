package main

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/petrigate/petrigate/config"
)

// checkCommands finds commands that do not exist before anything runs.
func checkCommands(c *config.Config) error {
	var list config.ErrorList
	for _, s := range c.Servers {
		if s.Disabled || s.Command == "" {
			continue
		}
		if _, err := exec.LookPath(s.Command); err != nil {
			list = append(list, &config.Error{
				File: s.Position.File, Line: s.Position.Line, Column: s.Position.Column,
				Msg:  fmt.Sprintf("the command %q of the server %q cannot be run: %v", s.Command, s.Name, reasonOf(err)),
				Hint: hintOf(s.Command),
			})
		}
	}
	if len(list) > 0 {
		return list
	}
	return nil
}

func reasonOf(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

func hintOf(command string) string {
	if strings.ContainsRune(command, '/') {
		return "the path is relative to the configuration file"
	}
	return "install it, or write its absolute path: clients start the proxy with a short PATH"
}
