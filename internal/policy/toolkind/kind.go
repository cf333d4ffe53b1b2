package toolkind

import (
	"slices"
	"strings"
	"unicode"
)

// A Kind classifies tools by their effect.
type Kind uint8

// Kinds of tools. Except for [Unclear], the zero value, they are ordered by the caution they
// require.
const (
	Unclear Kind = iota // effect unknown
	Read                // changes nothing
	Outside             // changes nothing, but returns content possibly written by untrusted people
	Secret              // changes nothing, but may return secrets
	Write               // creates something or makes a reversible change
	Edit                // changes something that exists
	Send                // sends something to other people
	Publish             // makes something public irreversibly
	Destroy             // removes or overwrites something irreversibly
	Run                 // runs a command or code
	Pay                 // moves money
)

var kindNames = [...]string{"unclear", "read", "outside", "secret", "write", "edit", "send", "publish", "destroy", "run", "pay"}

func (k Kind) String() string { return kindNames[k] }

// decisiveWords maps words to kinds. The first of these words in a tool's name determines the kind.
// Words for [Run] are ignored in names that begin with a verb for reading.
var decisiveWords = map[string]Kind{
	"delete": Destroy, "remove": Destroy, "drop": Destroy, "destroy": Destroy, "purge": Destroy, "wipe": Destroy, "truncate": Destroy,
	"erase": Destroy, "kill": Destroy, "terminate": Destroy, "reset": Destroy, "revoke": Destroy, "uninstall": Destroy, "overwrite": Destroy,
	"rollback": Destroy, "restore": Destroy, "rm": Destroy, "unlink": Destroy,
	"execute": Run, "exec": Run, "eval": Run, "evaluate": Run, "shell": Run, "bash": Run, "terminal": Run,
}

// leadingVerbs maps verbs to kinds. The first of these verbs in a name determines the kind.
var leadingVerbs = map[string]Kind{
	"get": Read, "list": Read, "read": Read, "search": Read, "find": Read, "describe": Read, "show": Read, "view": Read, "count": Read,
	"check": Read, "status": Read, "stat": Read, "info": Read, "lookup": Read, "cat": Read, "ls": Read, "tree": Read,
	"diff": Read, "log": Read, "explain": Read, "validate": Read, "preview": Read, "inspect": Read, "analyze": Read, "echo": Read,
	"history": Read, "snapshot": Read, "wait": Read, "query": Read, "grep": Read, "head": Read, "tail": Read, "directory": Read,
	"blame": Read, "reflog": Read, "shortlog": Read, "whoami": Read,
	"fetch": Outside, "browse": Outside, "crawl": Outside, "scrape": Outside, "navigate": Outside, "download": Outside,
	"create": Write, "add": Write, "make": Write, "mkdir": Write, "new": Write, "append": Write, "insert": Write, "copy": Write, "save": Write,
	"commit": Write, "stage": Write, "init": Write, "start": Write, "tag": Write, "label": Write, "react": Write, "draft": Write,
	"write": Edit, "edit": Edit, "update": Edit, "set": Edit, "patch": Edit, "modify": Edit, "change": Edit, "put": Edit, "upsert": Edit,
	"replace": Edit, "assign": Edit, "close": Edit, "checkout": Edit, "toggle": Edit, "enable": Edit, "apply": Edit, "click": Edit, "fill": Edit,
	"type": Edit, "select": Edit, "hover": Read, "press": Edit, "scale": Edit, "restart": Edit,
	"send": Send, "post": Send, "reply": Send, "forward": Send, "share": Send, "upload": Send, "notify": Send,
	"tweet": Send, "email": Send, "message": Send, "invite": Send, "comment": Send, "submit": Send,
	"publish": Publish, "push": Publish, "merge": Publish, "deploy": Publish, "release": Publish, "promote": Publish,
	"move": Destroy, "rename": Destroy, "disable": Destroy, "stop": Destroy, "cancel": Destroy, "archive": Destroy, "clear": Destroy,
	"run": Run, "invoke": Run, "call": Run, "script": Run, "spawn": Run, "python": Run, "sql": Run, "command": Run,
	"pay": Pay, "transfer": Pay, "charge": Pay, "refund": Pay, "purchase": Pay, "buy": Pay, "withdraw": Pay, "payout": Pay,
}

// sendNouns are words for messages, and payNouns are words for payments. A tool that creates a
// message probably sends it. A tool for payments that is not read-only probably moves money.
var (
	sendNouns = []string{"comment", "message", "email", "mail", "tweet", "post", "reply", "issue", "review", "release", "gist", "notification", "invitation", "request"}
	payNouns  = []string{"payment", "payout", "transfer", "refund", "charge", "purchase", "invoice"}
)

// secretNouns are words for things that grant access. keyWords count as such words only together
// with "key".
var (
	secretNouns = []string{"secret", "secrets", "password", "passwords", "passwd", "credential", "credentials", "env", "environ", "dotenv", "printenv"}
	keyWords    = []string{"api", "private", "access", "signing"}
)

// outsideNouns denote content written by untrusted people.
var outsideNouns = []string{
	"web", "page", "url", "website", "html", "email", "emails", "mail", "mails", "inbox", "issue", "issues", "comment", "comments", "message", "messages",
	"tweet", "tweets", "thread", "threads", "feed", "news", "rss", "internet", "review", "reviews", "article", "articles", "ticket", "tickets",
}

// KindByName guesses the kind of a tool from its name alone.
func KindByName(name string) Kind {
	words := Words(name)
	for i, w := range words {
		if k := decisiveWords[w]; k == Destroy || k == Run && (i == 0 || !leadingVerbs[words[0]].Reads()) {
			return k
		}
	}
	verb, at := Unclear, 0
	for i, w := range words {
		if k, ok := leadingVerbs[w]; ok {
			verb, at = k, i
			break
		}
	}
	has := func(nouns []string) bool {
		return slices.ContainsFunc(words[min(at, len(words)):], func(w string) bool { return slices.Contains(nouns, w) })
	}
	switch {
	case (verb == Read || verb == Unclear) && namesSecret(words):
		return Secret
	case verb == Read && has(outsideNouns):
		return Outside
	case verb.Reads():
		return verb
	case verb != Unclear && verb < Pay && has(payNouns):
		return Pay
	case verb == Write && has(sendNouns):
		return Send
	}
	return verb
}

// namesSecret reports whether the words of a name refer to secrets.
func namesSecret(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretNouns, w) }) ||
		(slices.Contains(words, "key") || slices.Contains(words, "keys")) && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keyWords, w) })
}

// Reads reports whether a call to a tool of this kind changes nothing and returns no secrets.
func (k Kind) Reads() bool { return k == Read || k == Outside }

// Acts reports whether a call to a tool of this kind has, or might have, an irreversible effect.
// For [Unclear], it returns false.
func (k Kind) Acts() bool { return k >= Send }

// Words splits a name into lower-case words. A word ends before a character that is not a letter,
// and before a capital letter that follows a lower-case one.
func Words(name string) (words []string) {
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	end()
	return words
}

// Sends reports whether a call to a tool of this kind can send something to other people. This
// includes messages, money, and anything that arbitrary code can send.
func (k Kind) Sends() bool { return k == Send || k == Publish || k == Run || k == Pay }

// Untrusted reports whether a call to a tool of this kind may return content written by untrusted
// people.
func (k Kind) Untrusted() bool { return k == Outside }

// IsPlain reports whether rules can use the name directly to refer to a field. The name must be an
// identifier of at most 64 characters and not a keyword.
func IsPlain(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 64 && !slices.Contains(keywords, name)
}

// keywords contains the words that can follow a field in rules.
var keywords = []string{"as", "per", "unless"}

var (
	pathWords   = []string{"path", "file", "filename", "filepath", "source", "src", "directory", "dir", "folder"}
	sameWords   = []string{"id", "key", "name", "number", "owner", "repo", "repository", "table", "branch", "channel", "bucket", "namespace", "slug", "sha", "ref"}
	urlWords    = []string{"url", "uri", "link", "href", "endpoint"}
	amountWords = []string{"amount", "price", "total", "sum", "cents"}
	codeWords   = []string{"command", "cmd", "script", "code", "sql", "expression"}
)
