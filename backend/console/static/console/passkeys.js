// Asks the browser for a passkey when a form with data-passkey is sent, and sends the browser's reply with the form.
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const failed = form.querySelector("[role=alert]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      failed.hidden = true;
      try {
        const reply = await window.webauthnJSON[form.dataset.passkey](JSON.parse(form.dataset.options));
        form.elements.passkey.value = JSON.stringify(reply);
        form.submit();
      } catch {
        failed.hidden = false;
      }
    });
  }
});
