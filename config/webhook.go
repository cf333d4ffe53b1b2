package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A Webhook says which system of an operator is told of calls that wait for a person, and
// where its answers come in.
type Webhook struct {
	URL       string   // that questions are posted to
	Secret    string   // signs what is posted, and the answers
	Listen    string   // the address for answers
	AnswerURL string   // by which the system and people reach it; "": http:// and the address
	Arguments string   // "masked", "full" or "none": what of the arguments is posted and shown
	Mask      []string // with "masked": names of fields, and paths that begin with "$."

	TLS *ServerTLS `json:",omitempty"` // nil: the authorities of the system vouch for the URL
}

// String shows nothing of the secret.
func (w Webhook) String() string { return "config.Webhook at " + w.Listen }

// GoString shows nothing of the secret.
func (w Webhook) GoString() string { return w.String() }

// leastSecret is how many bytes the secret of a webhook must have.
const leastSecret = 16

const exampleOfWebhook = `webhook: { url: "https://hooks.example.com/petrigate", secret: "${env:PETRIGATE_HOOK_SECRET}", listen: "127.0.0.1:7781" }`

func readWebhook(v Value) (*Webhook, bool) {
	w := &Webhook{Arguments: "masked"}
	before := v.Faults()
	v.Fields(Keys{
		"url":       into(&w.URL, checked(checkHook)),
		"secret":    into(&w.Secret, readHookSecret),
		"listen":    into(&w.Listen, checked(checkAddress)),
		"answerUrl": into(&w.AnswerURL, checked(checkAnswerURL)),
		"tls":       into(&w.TLS, readServerTLS),
		"arguments": into(&w.Arguments, checked(checkWord([]string{"masked", "full", "none"}))),
		"mask":      into(&w.Mask, filled(each(checked(checkFilled, checkMask)))),
	})
	if v.Faults() > before {
		return w, true
	}
	v.requires(exampleOfWebhook, "url", "secret", "listen")
	w.AnswerURL = strings.TrimSuffix(w.AnswerURL, "/")
	at := v.get("mask")
	switch answer := v.get("answerUrl"); {
	case w.TLS != nil && strings.HasPrefix(w.URL, "http:"):
		v.at(v.get("tls"), `"tls" requires a "url" that begins with https://`, "")
	case at != nil && w.Arguments != "masked":
		v.at(at, `"mask" has no meaning with "arguments": "`+w.Arguments+`"`, "arguments: masked")
	case answer == nil && allNetworks(w.Listen):
		v.at(v.get("listen"), `"listen" means all networks of the machine, so that "webhook" requires "answerUrl"`, `answerUrl: "https://gate.example.com"`)
	case answer == nil && w.Listen != "" && !loopback(w.Listen), answer != nil && !answer.open && !trustworthy(w.AnswerURL):
		v.warn(v.get("listen"), "the links that approve cross the network in the clear: whoever reads one can use it", `answerUrl: "https://gate.example.com", of a server in front that speaks TLS`)
	}
	return w, true
}

// checkHook accepts a URL that nobody else can answer for.
func checkHook(what, _, text string) (msg, hint string) {
	if !trustworthy(text) {
		return what + " must be a URL that begins with https://", "http:// only for this machine"
	}
	return "", ""
}

// checkAnswerURL accepts what links can begin with.
func checkAnswerURL(what, _, text string) (msg, hint string) {
	if !isURL(text) || strings.Contains(text, "?") {
		return what + " must be the URL by which people reach the address of \"listen\"", `for example "https://gate.example.com"`
	}
	return "", ""
}

// elsewhere finds a value that is in a variable or a file, and not in the configuration.
var elsewhere = regexp.MustCompile(`^\$\{((env:)?[A-Za-z_][A-Za-z0-9_]*(:\?[^}]*)?|file:[^}]+)\}$`)

// readHookSecret reads a secret that is not in the file itself.
func readHookSecret(v Value) (string, bool) {
	if v.is(textKind) && !elsewhere.MatchString(v.text) {
		v.Fault("the secret of a webhook does not belong into the configuration", `secret: "${env:PETRIGATE_HOOK_SECRET}", or "${file:hook.secret}"`)
		return "", false
	}
	secret, ok := v.setting()
	if ok && len(secret) < leastSecret {
		v.Fault(fmt.Sprintf("the secret of a webhook has fewer than %d bytes", leastSecret), "for example what openssl rand -hex 32 prints")
		return "", false
	}
	return secret, ok
}

// settleWebhook holds the section to the list of channels.
func (c *Config) settleWebhook(d *decoder, l *layers) {
	listed := slices.Contains(c.Approval.Channels, "webhook")
	switch w := c.Approval.Webhook; {
	case listed && w == nil:
		d.at(l.set["approval.channels"], `the channel "webhook" requires the section "webhook" of "approval"`, exampleOfWebhook)
	case !listed && w != nil:
		d.at(l.set["approval.webhook"], `"webhook" has no effect, since "webhook" is not among the channels`, "channels: [elicit, web, cli, webhook]")
	case w != nil && w.Mask == nil:
		w.Mask = slices.Clone(c.Audit.Mask)
	}
}

// secrets are what must not reach a log: the path of a URL is often one.
func (w *Webhook) secrets() []string {
	if w == nil {
		return nil
	}
	if u, err := url.Parse(w.URL); err != nil || len(u.RequestURI()) < 2 {
		return []string{w.Secret}
	}
	return []string{w.Secret, w.URL}
}

// Base returns what the links of a webhook begin with, where its listener is at an address.
func (w *Webhook) Base(address string) string {
	if w.AnswerURL != "" {
		return w.AnswerURL
	}
	return "http://" + address
}
