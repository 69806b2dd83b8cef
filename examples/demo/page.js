const audio = document.querySelector("audio"), wave = document.getElementById("wave"), now = document.getElementById("now");
const width = wave.viewBox.baseVal.width;
audio.addEventListener("timeupdate", () => {
  const x = audio.duration ? width * audio.currentTime / audio.duration : 0;
  now.setAttribute("x1", x);
  now.setAttribute("x2", x);
});
wave.addEventListener("click", (event) => {
  const box = wave.getBoundingClientRect();
  audio.currentTime = audio.duration * (event.clientX - box.left) / box.width;
  audio.play();
});
document.querySelectorAll("button.at").forEach((button) => button.addEventListener("click", () => {
  audio.currentTime = Number(button.value);
  audio.play();
}));
