// YASGUI's table with cells of its own: theirs are cleaned so often that a thousand rows take seconds, and lose the addresses of URNs.
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const textOf = ({ value }) => (typeof value === "string" ? value : JSON.stringify(value)); // a triple has no text

export const tablePlugin = (Table, short) =>
  class extends Table {
    // What is sorted and searched by would be parsed as markup first, and then cleaned: it is text from the start.
    getColumns() {
      const prefixes = this.yasr.getPrefixes();
      const render = (cell, wanted) => {
        if (!cell) return cell;
        return ["display", "type"].includes(wanted) ? this.getCellContent(cell, prefixes) : escaped(textOf(cell));
      };
      return super.getColumns().map((column) => (column.name ? { ...column, render } : column));
    }

    getUriLinkFromBinding({ value }, prefixes) {
      const shown = short(value, prefixes);
      const iri = escaped(value);
      const address = /^(https?|urn):/i.test(value) ? iri : "#"; // nothing that a browser would run
      const link = `<a class="iri" data-iri="${iri}" href="${address}">${escaped(shown ?? value)}</a>`;
      return shown || this.persistentConfig.compact ? link : `&lt;${link}&gt;`;
    }

    formatLiteral(literal, prefixes) {
      const { datatype, "xml:lang": language } = literal;
      const text = escaped(textOf(literal));
      if (this.persistentConfig.compact || !(language || datatype)) return text;
      return `"${text}"<sup>${language ? `@${escaped(language)}` : `^^${this.getUriLinkFromBinding({ value: datatype }, prefixes)}`}</sup>`;
    }
  };
