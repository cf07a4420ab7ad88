package cli

// step is one turn of the scripted model: what it thinks, what it calls, and
// what must come of it.
type step struct {
	says  string
	tool  string
	args  string // $VERSION is the version of the step that keeps
	fails bool
	wants string // part of the answer's text
	keeps bool
	lists bool // the server must announce a new list
	diff  bool // only the difference of the answer is shown
}

const (
	invoiceSchema = `{"type":"object","properties":{"lines":{"type":"array","description":"What was bought","items":{"type":"object",` +
		`"properties":{"price":{"type":"number"},"count":{"type":"integer"}},"required":["price","count"],"additionalProperties":false}},` +
		`"vat":{"type":"number","description":"0.19 for 19 %"}},"required":["lines"],"additionalProperties":false}`

	makeInvoice = `{"name":"invoice_total","description":"Adds up an invoice: net, tax and total, rounded to cents.","parameters":` + invoiceSchema + `,"body":`

	brokenBody = `"let net = 0;\nfor (const line of args.lines {\n  net += line.price * line.count;\n}\nreturn { net };"`

	goodBody = `"let net = 0;\nfor (const line of args.lines) {\n  net += line.price * line.count;\n}\nconst cents = n => Math.round(n * 100) / 100;\n` +
		`const tax = net * (args.vat ?? 0);\nreturn { net: cents(net), tax: cents(tax), total: cents(net + tax) };"`

	worseBody = `"const net = args.items.reduce((sum, l) => sum + l.price * l.count, 0);\nreturn { net };"`

	order = `{"lines":[{"price":19.99,"count":3},{"price":5,"count":2}],"vat":0.19}`
)

func script() []step {
	return []step{
		{says: "I add up invoices all day. Let me make a tool for it.", tool: "create_tool", args: makeInvoice + brokenBody + "}",
			fails: true, wants: "syntax_error"},
		{says: "A parenthesis is missing in line 2. Again.", tool: "create_tool", args: makeInvoice + goodBody + "}",
			wants: "invoice_total", keeps: true, lists: true},
		{says: "Let me try it.", tool: "invoice_total", args: `{"lines":[{"price":"19.99","count":3}],"tax":0.19}`, fails: true, wants: "invalid_arguments"},
		{says: "price is a number, and it is called vat.", tool: "invoice_total", args: order, wants: `"total":83.26`},
		{says: "I can write that shorter.", tool: "update_tool", args: `{"name":"invoice_total","reason":"shorter","body":` + worseBody + "}", wants: "invoice_total"},
		{says: "Does it still work?", tool: "invoice_total", args: order, fails: true, wants: "call_failed"},
		{says: "It does not: args has no items. What did I have before?", tool: "read_tool",
			args: `{"name":"invoice_total","diff":{"from":"$VERSION"}}`, wants: "invoice_total", diff: true},
		{says: "Back to the version that worked.", tool: "update_tool", args: `{"name":"invoice_total","restore_version":"$VERSION"}`, wants: "invoice_total"},
		{says: "And now?", tool: "invoice_total", args: order, wants: `"total":83.26`},
		{says: "A sum I need once. No tool for that.", tool: "run_code",
			args: `{"body":"console.log(args.totals.length, 'totals');\nreturn args.totals.reduce((a, b) => a + b, 0);","args":{"totals":[83.26,1]}}`, wants: "84.26"},
	}
}
