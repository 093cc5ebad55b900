import type { Browser } from "playwright-core";

const CART = `<body style="margin:0;font:16px system-ui;background:#f4f1ec;color:#2b2622">
  <div style="padding:28px 36px;background:#fff;margin:32px;border-radius:14px">
    <h1 style="font-size:24px;margin:0 0 18px">Your cart</h1>
    <p style="display:flex;justify-content:space-between;margin:8px 0"><span>Enamel kettle, 1.2 l</span><b>100.00</b></p>
    <p style="display:flex;justify-content:space-between;margin:8px 0;color:#0d7a4f"><span>Voucher TEN</span><b>− 10.00</b></p>
    <hr style="border:0;border-top:1px solid #ddd;margin:18px 0">
    <p style="display:flex;justify-content:space-between;font-size:20px"><span>Total</span><b>90.00</b></p>
    <p style="background:#b4431f;color:#fff;text-align:center;padding:14px;border-radius:10px">Check out</p>
  </div>`;

/** A picture of a page, as an agent takes one of what it has changed. */
export async function takeCartPicture(browser: Browser): Promise<Uint8Array<ArrayBuffer>> {
  const page = await browser.newPage({ viewport: { width: 640, height: 400 } });
  await page.setContent(CART);
  const picture = await page.screenshot({ type: "png" });
  await page.close();
  return new Uint8Array(picture);
}
