package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fetch implements the script command "fetch STATUS URL [HEADER: VALUE]...", which fetches the page
// at the URL, compares the status, and prints the body.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(argument(ts, neg, args, 2))
	ts.Check(err)
	r, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	for _, line := range args[2:] {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	page, err := client.Do(r)
	ts.Check(err)
	defer page.Body.Close()
	_, err = io.Copy(ts.Stdout(), page.Body)
	ts.Check(err)
	if page.StatusCode != want {
		ts.Fatalf("%s has the status %d", args[1], page.StatusCode)
	}
	_, _ = fmt.Fprintln(ts.Stderr(), page.Header)
}

// publish implements the script command "publish NAME DIRECTORY", which serves the files in a
// directory and sets a variable to their base address.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	name := argument(ts, neg, args, 2)
	site := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	ts.Defer(site.Close)
	ts.Setenv(name, site.URL)
}
