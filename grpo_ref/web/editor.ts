/** The editor: Python with colors, indentation and the usual keys. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

export class Editor {
  private readonly view: EditorView;

  /**
   * @param parent - the element that the editor fills
   * @param changed - called with the text whenever the student has typed
   * @param run - called when Ctrl+Enter is pressed
   */
  constructor(parent: HTMLElement, changed: (text: string) => void, run: () => void) {
    const keys = [{ key: "Mod-Enter", run: () => (run(), true) }, indentWithTab, ...defaultKeymap, ...historyKeymap];
    const extensions = [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      indentUnit.of("    "),
      python(),
      syntaxHighlighting(classHighlighter),
      keymap.of(keys),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Your answer, in Python" }),
      EditorView.updateListener.of((update) => update.docChanged && changed(this.text)),
    ];
    this.view = new EditorView({ parent, state: EditorState.create({ extensions }) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  focus(): void {
    this.view.focus();
  }

  /** Put the cursor on a line, counted from 1. */
  goTo(line: number): void {
    const { from } = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines));
    this.view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    this.view.focus();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }
}
