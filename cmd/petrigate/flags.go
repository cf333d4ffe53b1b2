package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/petrigate/petrigate/internal/text"
)

// A choice is a flag that accepts only one of several values.
type choice struct {
	value string
	among []string
}

func (f *choice) String() string { return f.value }

func (f *choice) Type() string { return strings.Join(f.among, "|") }

func (f *choice) Set(value string) error {
	if !slices.Contains(f.among, value) {
		return fmt.Errorf("use %s", text.Join(f.among, "or"))
	}
	f.value = value
	return nil
}

// choose adds a flag that accepts only the given values.
func choose(flags *pflag.FlagSet, name, value, what string, among ...string) *string {
	f := &choice{value, among}
	flags.Var(f, name, what)
	return &f.value
}

// An address is a flag whose value is a listen address.
type address string

func (f *address) String() string { return string(*f) }

func (f *address) Type() string { return "host:port" }

func (f *address) Set(value string) error {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("write host:port, for example 127.0.0.1:7777")
	}
	*f = address(value)
	return nil
}
