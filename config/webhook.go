package config

import (
	"fmt"
	"regexp"
	"strings"
)

// A Webhook configures an external system that is notified of calls waiting for approval, and the
// listener for its answers.
type Webhook struct {
	URL       string   // URL for posting approval requests
	Secret    string   // key for signing requests and answers
	Listen    string   // address of the listener for answers
	AnswerURL string   // base URL for links to the listener; empty means "http://" followed by the listener's address
	Arguments string   // how the webhook shows the arguments of a call, in its posts and on its pages: "masked", "full" or "none"
	Mask      []string // fields to mask if Arguments is "masked": names, or paths that begin with "$."

	TLS *ServerTLS `json:",omitempty"` // TLS settings for requests to URL; nil means the defaults
}

// String returns a description without the secret.
func (w Webhook) String() string { return "config.Webhook at " + w.Listen }

// GoString returns a description without the secret.
func (w Webhook) GoString() string { return w.String() }

// minWebhookSecret is the minimum length of a webhook's secret, in bytes.
const minWebhookSecret = 16

const exampleOfWebhook = `webhook: { url: "https://hooks.example.com/petrigate", secret: "${env:PETRIGATE_HOOK_SECRET}", listen: "127.0.0.1:7781" }`

func readWebhook(v Value) (*Webhook, bool) {
	w := &Webhook{Arguments: "masked"}
	ok := v.Fields(Keys{
		"url":       into(&w.URL, checked(checkWebhookURL)),
		"secret":    into(&w.Secret, readHookSecret),
		"listen":    into(&w.Listen, checked(checkAddress)),
		"answerUrl": into(&w.AnswerURL, checked(checkAnswerURL)),
		"tls":       into(&w.TLS, readServerTLS),
		"arguments": into(&w.Arguments, checked(checkWord([]string{"masked", "full", "none"}))),
		"mask":      into(&w.Mask, nonEmpty(listOf(checked(checkNotEmpty, checkMask)))),
	})
	if !ok {
		return w, true
	}
	v.requires(exampleOfWebhook, "url", "secret", "listen")
	v.addTarget(w.URL, "a webhook")
	v.addSecret(w.Secret)
	w.AnswerURL = strings.TrimSuffix(w.AnswerURL, "/")
	at := v.get("mask")
	switch answer := v.get("answerUrl"); {
	case w.TLS != nil && strings.HasPrefix(w.URL, "http:"):
		v.faultAt(v.get("tls"), `"tls" requires a "url" that begins with https://`, "")
	case at != nil && w.Arguments != "masked":
		v.faultAt(at, `"mask" has no effect with "arguments": "`+w.Arguments+`"`, "arguments: masked")
	case answer == nil && allNetworks(w.Listen):
		v.faultAt(v.get("listen"), `"listen" covers all networks of the machine, so "webhook" requires "answerUrl"`, `answerUrl: "https://gate.example.com"`)
	case answer == nil && w.Listen != "" && !loopback(w.Listen), answer != nil && !answer.unresolved && !isSecureURL(w.AnswerURL):
		v.warn(v.get("listen"), "approval links cross the network unencrypted: anyone who reads a link can use it", `answerUrl: "https://gate.example.com", the address of a TLS server in front`)
	}
	return w, true
}

// checkWebhookURL accepts an https URL, or an http URL whose host is this machine.
var checkWebhookURL = accept(isSecureURL, "%[1]s must be a URL that begins with https://", "http:// is allowed only for this machine")

// checkAnswerURL accepts a URL without a query, for use as the base of links.
var checkAnswerURL = accept(func(text string) bool {
	return isURL(text) && !strings.Contains(text, "?")
}, "%[1]s must be the URL that people open to reach the address of \"listen\"", `for example "https://gate.example.com"`)

// externalReference matches a value that consists only of a reference to an environment variable or
// a file.
var externalReference = regexp.MustCompile(`^\$\{((env:)?[A-Za-z_][A-Za-z0-9_]*(:\?[^}]*)?|file:[^}]+)\}$`)

// readHookSecret reads a secret, which must come from a variable or a file.
func readHookSecret(v Value) (string, bool) {
	if v.hasKind(textKind) && !externalReference.MatchString(v.text) {
		v.Fault("the configuration contains the secret of a webhook", `secret: "${env:PETRIGATE_HOOK_SECRET}", or "${file:hook.secret}"`)
		return "", false
	}
	secret, ok := v.setting()
	if ok && len(secret) < minWebhookSecret {
		v.Fault(fmt.Sprintf("the secret of a webhook has fewer than %d bytes", minWebhookSecret), "use the output of openssl rand -hex 32")
		return "", false
	}
	return secret, ok
}

// Base returns the base URL for links to the webhook's listener. It is AnswerURL or, if that is
// empty, "http://" followed by the listener's address.
func (w *Webhook) Base(address string) string {
	if w.AnswerURL != "" {
		return w.AnswerURL
	}
	return "http://" + address
}
