package proxy_test

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// The corpus: values that the protocol and JSON allow, and that programs change when they decode
// them into types of their own. Each is compared byte for byte.

// hostileValues are JSON values of every kind that decoding and encoding would change. Clients can
// send them too: they are strict JSON.
func hostileValues() []string {
	return []string{
		`null`, `true`, `false`, `""`, `{}`, `[]`, `[[],{},"",null,true,[{}]]`, `{"":{"":[]}}`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `18446744073709551616`,
		`1234567890123456789012345678901234567890`, `-1234567890123456789012345678901234567890`,
		`1E400`, `-1e-400`, `-0`, `-0.0`, `0e5`, `1.0`, `1.50`, `0.1e-7`, `1e+2`, `1E-02`, `5e-324`, `9007199254740993`, `0.1000000000000000055511151231257827`,
		`"\u00e9 é e\u0301 é"`, `"😀 \ud83d\ude00 \uD83D\uDE00"`, `"\u2028` + "\u2028\u2029" + `"`, `"\/ / \u002f \\"`, `"<>&\u003c\u003E\u0026'"`,
		`"\b\f\n\r\t\"\u0001\u001f\u007f` + "\u007f" + `"`, `"` + "\ufeff\ufffd\uffff\U0010ffff" + `"`, `"data: x\n\ndata: y\n\nid: 7\nretry: 1"`, `"ſKıİ"`,
		`{"b":1,"a":2,"10":3,"9":4,"A":5,"á":6,"a\u0301":7}`, `{"__proto__":{"x":1},"constructor":null,"toString":[]}`,
		`{"\u0061b":1,"\/":2,"\ud83d\ude00":3}`, `{ "a" : [ 1 ,` + "\t" + `2 ] , "b":{ } ,"c":[ ] }`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger"}}`,
		strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100), strings.Repeat(`{"a":`, 100) + `-0` + strings.Repeat(`}`, 100),
		`[` + strings.TrimSuffix(strings.Repeat(`1.0,`, 10_000), ",") + `]`,
	}
}

// foulValues are JSON values that parsers read differently: petrigate refuses them from a client,
// and forwards them from a server.
func foulValues() []string {
	return []string{`"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `{"a":1,"a":2}`, `{"name":1,"n\u0061me":2}`}
}

// together returns an object with all of the values.
func together(values []string) string {
	var b strings.Builder
	for i, v := range values {
		fmt.Fprintf(&b, `,"v%d":%s`, i, v)
	}
	return "{" + b.String()[1:] + "}"
}

// marks are annotations and icons with unknown members.
const marks = `"annotations":{"audience":["user","assistant","nobody"],"priority":0.50,"lastModified":"2025-01-12T15:00:58Z","x":1.0},` +
	`"icons":[{"src":"data:image/png;base64,AA==","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark","x":-0},{"src":"https://example.com/a?b=c&d=<e>"}]`

// contents are blocks of every known type and of unknown ones.
func contents() []string {
	return []string{
		`{"type":"text","text":"a\nb ` + "\u2028" + ` 😀 \ud83d\ude00 \/",` + marks + `,"_meta":` + proxytest.UnusualMeta + `}`,
		`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png",` + marks + `}`,
		`{"type":"image","data":"not base64!","mimeType":""}`,
		`{"type":"audio","data":"UklGRg==","mimeType":"audio/wav","_meta":{},"duration":1.0}`,
		`{"type":"resource","resource":{"uri":"file:///a%20b?c=\u0064","mimeType":"text/x","text":"\u00e9","_meta":` + proxytest.UnusualMeta + `,"size":1E3},` + marks + `}`,
		`{"type":"resource","resource":{"uri":"blob:x","blob":"AA=="}}`,
		`{"type":"resource_link","uri":"test://x","name":"l\u00efnk","title":"","description":"<&>","mimeType":"a/b","size":18446744073709551616,` + marks + `}`,
		`{"type":"tool_use","id":"1","name":"n","input":{"n":1.0}}`,
		`{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":""}],"structuredContent":{"n":-0},"isError":false}`,
		`{"type":"hologram","photons":[1E400,{"type":"text"}]}`, `{"type":7}`, `{"text":"no type"}`, `{}`, `null`, `"text"`, `[]`, `-0`,
	}
}

// results are tool results. %TYPE%, after the last member, stands for the members that the newer
// revision requires.
func results() []string {
	list := []string{
		`{"content":[` + strings.Join(contents(), ",") + `],"_meta":` + proxytest.UnusualMeta + `%TYPE%}`,
		`{"content":[]%TYPE%}`, `{"content":[],"unknown":{"isError":true,"resultType":"mine"}%TYPE%}`,
		`{"content" : [ ] , "structuredContent" : { }%TYPE% }`,
		`{"content":[],"z":` + together(hostileValues()) + `,"_meta":{}%TYPE%}`,
		`{"content":[],"foul":[` + strings.Join(foulValues(), ",") + `]%TYPE%}`,
		`{"x":1%TYPE%}`, `{"content":null,"_meta":null%TYPE%}`, `{"content":"none"%TYPE%}`,
		`{"tools":[],"nextCursor":"\u0032","contents":[]%TYPE%}`,
	}
	for _, kind := range []string{`"complete"`, `"odd"`, `null`, `7`} {
		list = append(list, `{"resultType":`+kind+`,"content":[],"inputRequests":{}}`) // between two peers of the older family
	}
	for _, kind := range []string{`true`, `false`, `null`, `"true"`, `1`, `{}`} {
		list = append(list, `{"content":[],"isError":`+kind+`%TYPE%}`)
	}
	for _, value := range hostileValues() {
		list = append(list, `{"content":[],"structuredContent":`+value+`%TYPE%}`)
	}
	return list
}

// failures are JSON-RPC errors: codes of all ranges, with data of every kind.
func failures() []string {
	var list []string
	for _, code := range []string{
		"-32700", "-32600", "-32601", "-32602", "-32603", "-32000", "-32001", "-32002", "-32003", "-32020", "-32021", "-32022", "-32042", "-32050", "-32099", "-32100",
		"-1", "0", "1", "7", "404", "500", "2147483648", "-9223372036854775809", "1.0", "1E2", "-0",
	} {
		list = append(list, `{"code":`+code+`,"message":"no <b> \u00e9 😀\/","data":{"n":1.0,"a":[1 ,2],"big":12345678901234567890}}`)
	}
	list = append(list,
		`{"code":-32042,"message":"URL","data":{"elicitations":[{"mode":"url","elicitationId":"\u0065-1","url":"https://example.com/?a=1&b=2","message":"<Sign in>","x":-0}]}}`,
		`{"message":"in another order","data":null,"code":-32603}`, `{"code":-32000,"message":"","extra":{"a":-0},"_meta":`+proxytest.UnusualMeta+`}`,
		`{"code":-32602,"message":"long","data":"`+strings.Repeat("x", 100<<10)+`"}`, `{"code":-32601,"message":"`+strings.Repeat("é", 100<<10)+`"}`,
	)
	for _, value := range append(hostileValues(), foulValues()...) {
		list = append(list, `{"code":-32000,"message":"x","data":`+value+`}`)
	}
	return list
}

// keywords is a schema with every keyword of JSON Schema: draft-07, 2019-09, 2020-12, and unknown
// ones.
func keywords() string {
	return `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/s#","$anchor":"a","$dynamicAnchor":"d","$dynamicRef":"#d","$recursiveRef":"#","$recursiveAnchor":true,` +
		`"$vocabulary":{"https://example.com/v":true},"$comment":"\u00e9<&>","$defs":{"p":{"type":"string"},"no":false,"yes":true},"definitions":{"q":{"$ref":"#/$defs/p"}},"id":"http://x/",` +
		`"type":"object","title":"","description":"a\/b","default":{},"examples":[1.0,-0,{}],"deprecated":false,"readOnly":true,"writeOnly":false,"enum":[null,1E2,"x",{}],"const":null,` +
		`"properties":{"r":{"$ref":"#/$defs/p"},"n":{"type":["integer","null"],"multipleOf":0.10,"maximum":12345678901234567890,"exclusiveMaximum":1E400,"minimum":-0,"exclusiveMinimum":true},` +
		`"s":{"type":"string","maxLength":18446744073709551616,"minLength":0,"pattern":"^\\p{L}+\u0024","format":"idn-email","contentEncoding":"base64","contentMediaType":"application/jwt","contentSchema":{"type":"array"}},` +
		`"l":{"type":"array","prefixItems":[true,{"type":"number"}],"items":false,"additionalItems":{},"contains":{"const":1.0},"maxContains":2,"minContains":0,"maxItems":10000,"minItems":0,"uniqueItems":true,"unevaluatedItems":false},` +
		`"old":{"items":[{"type":"string"},{}],"divisibleBy":2,"disallow":["any"],"extends":{}},"yes":true,"no":false,"name":{"x-mcp-note":"\u0078"}},` +
		`"patternProperties":{"^x-":{},"^\\$":false},"additionalProperties":false,"propertyNames":{"maxLength":64},"maxProperties":9,"minProperties":0,"required":[],"dependentRequired":{"r":["n"]},"dependentSchemas":{"s":{"required":["l"]}},` +
		`"dependencies":{"n":["s"],"s":{"type":"object"}},"unevaluatedProperties":{"type":"boolean"},"if":{"required":["r"]},"then":true,"else":{"not":{}},"allOf":[{},true],"anyOf":[{"type":"object"}],"oneOf":[{"minProperties":0}],"not":{"required":["zzz"]},` +
		`"nullable":true,"discriminator":{"propertyName":"k"},"x-vendor":{"n":1.50},"x-order":[3,1,2],"":{},"deep":` + strings.Repeat(`{"allOf":[`, 45) + `true` + strings.Repeat(`]}`, 45) + `}`
}

// hostileTools are valid tool objects with different names.
func hostileTools() []string {
	tools := []string{
		`{"name":"schemas","title":"T\u00eftle","description":"a\nb ` + "\u2028" + `😀","inputSchema":` + keywords() + `,"outputSchema":` + keywords() + `,` + marks + `,"_meta":` + proxytest.UnusualMeta + `,` +
			`"execution":{"taskSupport":"optional","x":-0},"annotations2":{}}`,
		`{ "outputSchema" : true , "inputSchema":{ } ,"execution":null,"icons":[],"annotations":{"title":"","readOnlyHint":false,"destructiveHint":"maybe","idempotentHint":null,"openWorldHint":true,"x":{}}, "n\u0061me" : "sp\u0061ced" }`,
		`{"name":"foreign.a/b-C_9","inputSchema":{"type":"object"},"title":null,"_meta":null}`,
		`{"inputSchema":{"type":"object","properties":{"name":{"const":"x"}}},"name":"late","x":{"name":"y"}}`,
	}
	for i, value := range hostileValues() {
		tools = append(tools, fmt.Sprintf(`{"name":"odd-%d","inputSchema":{"type":"object","default":%s},"x":%s}`, i, value, value))
	}
	return tools
}
