/** Returns a text of the page, which is a template of index.html. */

export const explanation = (id: 'introduction' | 'questions' | 'reference'): Node =>
  document.importNode((document.getElementById(id) as HTMLTemplateElement).content, true);
