package main

import "github.com/petrigate/petrigate/rules"

// problemCode is the code of a problem in a configuration.
func problemCode(code string) rules.Code { return rules.Code(code) }
