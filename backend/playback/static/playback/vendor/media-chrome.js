var MediaChrome=(()=>{var xs=Object.defineProperty;var Ku=Object.getOwnPropertyDescriptor;var Gu=Object.getOwnPropertyNames;var qu=Object.prototype.hasOwnProperty;var Cs=(t,i)=>{for(var e in i)xs(t,e,{get:i[e],enumerable:!0})},Wu=(t,i,e,r)=>{if(i&&typeof i=="object"||typeof i=="function")for(let n of Gu(i))!qu.call(t,n)&&n!==e&&xs(t,n,{get:()=>i[n],enumerable:!(r=Ku(i,n))||r.enumerable});return t};var Yu=t=>Wu(xs({},"__esModule",{value:!0}),t);var Ds=(t,i,e)=>{if(!i.has(t))throw TypeError("Cannot "+e)};var s=(t,i,e)=>(Ds(t,i,"read from private field"),e?e.call(t):i.get(t)),c=(t,i,e)=>{if(i.has(t))throw TypeError("Cannot add the same private member more than once");i instanceof WeakSet?i.add(t):i.set(t,e)},h=(t,i,e,r)=>(Ds(t,i,"write to private field"),r?r.call(t,e):i.set(t,e),e);var el=(t,i,e,r)=>({set _(n){h(t,i,n,e)},get _(){return s(t,i,r)}}),p=(t,i,e)=>(Ds(t,i,"access private method"),e);var Bh={};Cs(Bh,{AttrPart:()=>Me,AttrPartList:()=>ys,ChildNodePart:()=>Wn,InnerTemplatePart:()=>or,MediaAirplayButton:()=>ad,MediaAudioTrackMenu:()=>kn,MediaAudioTrackMenuButton:()=>$t,MediaCaptionsButton:()=>cd,MediaCaptionsMenu:()=>Xi,MediaCaptionsMenuButton:()=>Vt,MediaCastButton:()=>hd,MediaChromeButton:()=>nd,MediaChromeDialog:()=>Rl,MediaChromeMenu:()=>G,MediaChromeMenuButton:()=>X,MediaChromeMenuItem:()=>te,MediaChromeRange:()=>vd,MediaContainer:()=>Sl,MediaContextMenu:()=>tr,MediaContextMenuItem:()=>jt,MediaControlBar:()=>Td,MediaController:()=>td,MediaDurationDisplay:()=>yd,MediaErrorDialog:()=>Id,MediaFullscreenButton:()=>kd,MediaGestureReceiver:()=>gr,MediaKeyboardShortcutsDialog:()=>Cl,MediaLiveButton:()=>Rd,MediaLoadingIndicator:()=>Cd,MediaLoopButton:()=>iu,MediaMuteButton:()=>Od,MediaPipButton:()=>Hd,MediaPlayButton:()=>Bd,MediaPlaybackRateButton:()=>Nd,MediaPlaybackRateMenu:()=>Pn,MediaPlaybackRateMenuButton:()=>Gt,MediaPosterImage:()=>$d,MediaPreviewChapterDisplay:()=>Vd,MediaPreviewThumbnail:()=>Zr,MediaPreviewTimeDisplay:()=>Kd,MediaRenditionMenu:()=>Nn,MediaRenditionMenuButton:()=>Wt,MediaSeekBackwardButton:()=>Gd,MediaSeekForwardButton:()=>qd,MediaSettingsMenu:()=>zi,MediaSettingsMenuButton:()=>Bt,MediaSettingsMenuItem:()=>ot,MediaTextDisplay:()=>Ad,MediaThemeElement:()=>sr,MediaTimeDisplay:()=>Qd,MediaTimeRange:()=>eu,MediaTooltip:()=>Dr,MediaVolumeRange:()=>tu,Part:()=>qn,TemplateInstance:()=>dt,constants:()=>to,defaultProcessor:()=>xu,parse:()=>Sa,t:()=>g,timeUtils:()=>oo,tokenize:()=>ya});var to={};Cs(to,{AttributeToStateChangeEventMap:()=>ws,AvailabilityStates:()=>Q,MediaStateChangeEvents:()=>de,MediaStateReceiverAttributes:()=>x,MediaUIAttributes:()=>a,MediaUIEvents:()=>b,MediaUIProps:()=>eo,PointerTypes:()=>cr,ReadyStates:()=>zu,StateChangeEventToAttributeMap:()=>Qu,StreamTypes:()=>J,TextTrackKinds:()=>j,TextTrackModes:()=>Oe,VolumeLevels:()=>Zu,WebkitPresentationModes:()=>Os});var b={MEDIA_PLAY_REQUEST:"mediaplayrequest",MEDIA_PAUSE_REQUEST:"mediapauserequest",MEDIA_MUTE_REQUEST:"mediamuterequest",MEDIA_UNMUTE_REQUEST:"mediaunmuterequest",MEDIA_LOOP_REQUEST:"medialooprequest",MEDIA_VOLUME_REQUEST:"mediavolumerequest",MEDIA_SEEK_REQUEST:"mediaseekrequest",MEDIA_AIRPLAY_REQUEST:"mediaairplayrequest",MEDIA_ENTER_FULLSCREEN_REQUEST:"mediaenterfullscreenrequest",MEDIA_EXIT_FULLSCREEN_REQUEST:"mediaexitfullscreenrequest",MEDIA_PREVIEW_REQUEST:"mediapreviewrequest",MEDIA_ENTER_PIP_REQUEST:"mediaenterpiprequest",MEDIA_EXIT_PIP_REQUEST:"mediaexitpiprequest",MEDIA_ENTER_CAST_REQUEST:"mediaentercastrequest",MEDIA_EXIT_CAST_REQUEST:"mediaexitcastrequest",MEDIA_SHOW_TEXT_TRACKS_REQUEST:"mediashowtexttracksrequest",MEDIA_HIDE_TEXT_TRACKS_REQUEST:"mediahidetexttracksrequest",MEDIA_SHOW_SUBTITLES_REQUEST:"mediashowsubtitlesrequest",MEDIA_DISABLE_SUBTITLES_REQUEST:"mediadisablesubtitlesrequest",MEDIA_TOGGLE_SUBTITLES_REQUEST:"mediatogglesubtitlesrequest",MEDIA_PLAYBACK_RATE_REQUEST:"mediaplaybackraterequest",MEDIA_RENDITION_REQUEST:"mediarenditionrequest",MEDIA_AUDIO_TRACK_REQUEST:"mediaaudiotrackrequest",MEDIA_SEEK_TO_LIVE_REQUEST:"mediaseektoliverequest",REGISTER_MEDIA_STATE_RECEIVER:"registermediastatereceiver",UNREGISTER_MEDIA_STATE_RECEIVER:"unregistermediastatereceiver"},x={MEDIA_CHROME_ATTRIBUTES:"mediachromeattributes",MEDIA_CONTROLLER:"mediacontroller"},eo={MEDIA_AIRPLAY_UNAVAILABLE:"mediaAirplayUnavailable",MEDIA_AUDIO_TRACK_ENABLED:"mediaAudioTrackEnabled",MEDIA_AUDIO_TRACK_LIST:"mediaAudioTrackList",MEDIA_AUDIO_TRACK_UNAVAILABLE:"mediaAudioTrackUnavailable",MEDIA_BUFFERED:"mediaBuffered",MEDIA_CAST_UNAVAILABLE:"mediaCastUnavailable",MEDIA_CHAPTERS_CUES:"mediaChaptersCues",MEDIA_CURRENT_TIME:"mediaCurrentTime",MEDIA_DURATION:"mediaDuration",MEDIA_ENDED:"mediaEnded",MEDIA_ERROR:"mediaError",MEDIA_ERROR_CODE:"mediaErrorCode",MEDIA_ERROR_MESSAGE:"mediaErrorMessage",MEDIA_FULLSCREEN_UNAVAILABLE:"mediaFullscreenUnavailable",MEDIA_HAS_PLAYED:"mediaHasPlayed",MEDIA_HEIGHT:"mediaHeight",MEDIA_IS_AIRPLAYING:"mediaIsAirplaying",MEDIA_IS_CASTING:"mediaIsCasting",MEDIA_IS_FULLSCREEN:"mediaIsFullscreen",MEDIA_IS_PIP:"mediaIsPip",MEDIA_LOADING:"mediaLoading",MEDIA_MUTED:"mediaMuted",MEDIA_LOOP:"mediaLoop",MEDIA_PAUSED:"mediaPaused",MEDIA_PIP_UNAVAILABLE:"mediaPipUnavailable",MEDIA_PLAYBACK_RATE:"mediaPlaybackRate",MEDIA_PREVIEW_CHAPTER:"mediaPreviewChapter",MEDIA_PREVIEW_COORDS:"mediaPreviewCoords",MEDIA_PREVIEW_IMAGE:"mediaPreviewImage",MEDIA_PREVIEW_TIME:"mediaPreviewTime",MEDIA_RENDITION_LIST:"mediaRenditionList",MEDIA_RENDITION_SELECTED:"mediaRenditionSelected",MEDIA_RENDITION_UNAVAILABLE:"mediaRenditionUnavailable",MEDIA_SEEKABLE:"mediaSeekable",MEDIA_STREAM_TYPE:"mediaStreamType",MEDIA_SUBTITLES_LIST:"mediaSubtitlesList",MEDIA_SUBTITLES_SHOWING:"mediaSubtitlesShowing",MEDIA_TARGET_LIVE_WINDOW:"mediaTargetLiveWindow",MEDIA_TIME_IS_LIVE:"mediaTimeIsLive",MEDIA_VOLUME:"mediaVolume",MEDIA_VOLUME_LEVEL:"mediaVolumeLevel",MEDIA_VOLUME_UNAVAILABLE:"mediaVolumeUnavailable",MEDIA_LANG:"mediaLang",MEDIA_WIDTH:"mediaWidth"},tl=Object.entries(eo),a=tl.reduce((t,[i,e])=>(t[i]=e.toLowerCase(),t),{}),ju={USER_INACTIVE_CHANGE:"userinactivechange",BREAKPOINTS_CHANGE:"breakpointchange",BREAKPOINTS_COMPUTED:"breakpointscomputed"},de=tl.reduce((t,[i,e])=>(t[i]=e.toLowerCase(),t),{...ju}),Qu=Object.entries(de).reduce((t,[i,e])=>{let r=a[i];return r&&(t[e]=r),t},{userinactivechange:"userinactive"}),ws=Object.entries(a).reduce((t,[i,e])=>{let r=de[i];return r&&(t[e]=r),t},{userinactive:"userinactivechange"}),j={SUBTITLES:"subtitles",CAPTIONS:"captions",DESCRIPTIONS:"descriptions",CHAPTERS:"chapters",METADATA:"metadata"},Oe={DISABLED:"disabled",HIDDEN:"hidden",SHOWING:"showing"},zu={HAVE_NOTHING:0,HAVE_METADATA:1,HAVE_CURRENT_DATA:2,HAVE_FUTURE_DATA:3,HAVE_ENOUGH_DATA:4},cr={MOUSE:"mouse",PEN:"pen",TOUCH:"touch"},Q={UNAVAILABLE:"unavailable",UNSUPPORTED:"unsupported"},J={LIVE:"live",ON_DEMAND:"on-demand",UNKNOWN:"unknown"},Zu={HIGH:"high",MEDIUM:"medium",LOW:"low",OFF:"off"},Os={INLINE:"inline",FULLSCREEN:"fullscreen",PICTURE_IN_PICTURE:"picture-in-picture"};var oo={};Cs(oo,{emptyTimeRanges:()=>hl,formatAsTimePhrase:()=>Ye,formatTime:()=>re,serializeTimeRanges:()=>nc});function il(t){return t==null?void 0:t.map(Xu).join(" ")}function rl(t){return t==null?void 0:t.split(/\s+/).map(Ju)}function Xu(t){if(t){let{id:i,width:e,height:r}=t;return[i,e,r].filter(n=>n!=null).join(":")}}function Ju(t){if(t){let[i,e,r]=t.split(":");return{id:i,width:+e,height:+r}}}function nl(t){return t==null?void 0:t.map(ec).join(" ")}function ol(t){return t==null?void 0:t.split(/\s+/).map(tc)}function ec(t){if(t){let{id:i,kind:e,language:r,label:n}=t;return[i,e,r,n].filter(o=>o!=null).join(":")}}function tc(t){if(t){let[i,e,r,n]=t.split(":");return{id:i,kind:e,language:r,label:n}}}function sl(t){return t.replace(/[-_]([a-z])/g,(i,e)=>e.toUpperCase())}function ri(t){return typeof t=="number"&&!Number.isNaN(t)&&Number.isFinite(t)}function io(t){return typeof t!="string"?!1:!isNaN(t)&&!isNaN(parseFloat(t))}var ro=t=>new Promise(i=>setTimeout(i,t));var ic={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;","'":"&#39;"};function no(t){return String(t).replace(/[&<>"']/g,i=>ic[i])}var al={"Start airplay":"Start airplay","Stop airplay":"Stop airplay",Audio:"Audio",Captions:"Captions","Enable captions":"Enable captions","Disable captions":"Disable captions","Start casting":"Start casting","Stop casting":"Stop casting","Enter fullscreen mode":"Enter fullscreen mode","Exit fullscreen mode":"Exit fullscreen mode",Mute:"Mute",Unmute:"Unmute",Loop:"Loop","Enter picture in picture mode":"Enter picture in picture mode","Exit picture in picture mode":"Exit picture in picture mode",Play:"Play",Pause:"Pause","Playback rate":"Playback rate","Playback rate {playbackRate}":"Playback rate {playbackRate}",Quality:"Quality","Seek backward":"Seek backward","Seek forward":"Seek forward",Settings:"Settings",Auto:"Auto","audio player":"audio player","video player":"video player",volume:"volume",seek:"seek","closed captions":"closed captions","current playback rate":"current playback rate","playback time":"playback time","media loading":"media loading",settings:"settings","audio tracks":"audio tracks",quality:"quality",play:"play",pause:"pause",mute:"mute",unmute:"unmute","chapter: {chapterName}":"chapter: {chapterName}",live:"live",Off:"Off","start airplay":"start airplay","stop airplay":"stop airplay","start casting":"start casting","stop casting":"stop casting","enter fullscreen mode":"enter fullscreen mode","exit fullscreen mode":"exit fullscreen mode","enter picture in picture mode":"enter picture in picture mode","exit picture in picture mode":"exit picture in picture mode","seek to live":"seek to live","playing live":"playing live","seek back {seekOffset} seconds":"seek back {seekOffset} seconds","seek forward {seekOffset} seconds":"seek forward {seekOffset} seconds","Network Error":"Network Error","Decode Error":"Decode Error","Source Not Supported":"Source Not Supported","Encryption Error":"Encryption Error","A network error caused the media download to fail.":"A network error caused the media download to fail.","A media error caused playback to be aborted. The media could be corrupt or your browser does not support this format.":"A media error caused playback to be aborted. The media could be corrupt or your browser does not support this format.","An unsupported error occurred. The server or network failed, or your browser does not support this format.":"An unsupported error occurred. The server or network failed, or your browser does not support this format.","The media is encrypted and there are no keys to decrypt it.":"The media is encrypted and there are no keys to decrypt it.",hour:"hour",hours:"hours",minute:"minute",minutes:"minutes",second:"second",seconds:"seconds","{time} remaining":"{time} remaining","{currentTime} of {totalTime}":"{currentTime} of {totalTime}","video not loaded, unknown time.":"video not loaded, unknown time."};var mr={en:al},ll,ni=((ll=globalThis.navigator)==null?void 0:ll.language)||"en",dl=t=>{ni=t};var rc=t=>{var e,r,n;let[i]=ni.split("-");return((e=mr[ni])==null?void 0:e[t])||((r=mr[i])==null?void 0:r[t])||((n=mr.en)==null?void 0:n[t])||t},ul=()=>{let[t]=ni.split("-");return mr[ni]?ni:mr[t]?t:"en"},g=(t,i={})=>rc(t).replace(/\{(\w+)\}/g,(e,r)=>r in i?String(i[r]):`{${r}}`);var cl=[{singular:"hour",plural:"hours"},{singular:"minute",plural:"minutes"},{singular:"second",plural:"seconds"}],ml=(t,i)=>{let e=t===1?g(cl[i].singular):g(cl[i].plural);return`${t} ${e}`},Ye=t=>{if(!ri(t))return"";let i=Math.abs(t),e=i!==t,r=new Date(0,0,0,0,0,i,0),o=[r.getHours(),r.getMinutes(),r.getSeconds()].map((l,d)=>l&&ml(l,d)).filter(l=>l).join(", ");return e?g("{time} remaining",{time:o}):i===0?ml(0,2):o};function re(t,i){let e=!1;t<0&&(e=!0,t=0-t),t=t<0?0:t;let r=Math.floor(t%60),n=Math.floor(t/60%60),o=Math.floor(t/3600),l=Math.floor(i/60%60),d=Math.floor(i/3600);return(isNaN(t)||t===1/0)&&(o=n=r="0"),o=o>0||d>0?o+":":"",n=((o||l>=10)&&n<10?"0"+n:n)+":",r=r<10?"0"+r:r,(e?"-":"")+o+n+r}var hl=Object.freeze({length:0,start(t){let i=t>>>0;if(i>=this.length)throw new DOMException(`Failed to execute 'start' on 'TimeRanges': The index provided (${i}) is greater than or equal to the maximum bound (${this.length}).`);return 0},end(t){let i=t>>>0;if(i>=this.length)throw new DOMException(`Failed to execute 'end' on 'TimeRanges': The index provided (${i}) is greater than or equal to the maximum bound (${this.length}).`);return 0}});function nc(t=hl){return Array.from(t).map((i,e)=>[Number(t.start(e).toFixed(3)),Number(t.end(e).toFixed(3))].join(":")).join(" ")}var so=class{addEventListener(){}removeEventListener(){}dispatchEvent(){return!0}},ao=class extends so{},lo=class extends ao{constructor(){super(...arguments);this.role=null}},Ps=class{observe(){}unobserve(){}disconnect(){}},pl={createElement:function(){return new hr.HTMLElement},createElementNS:function(){return new hr.HTMLElement},addEventListener(){},removeEventListener(){},dispatchEvent(t){return!1}},hr={ResizeObserver:Ps,document:pl,Node:ao,Element:lo,HTMLElement:class extends lo{constructor(){super(...arguments);this.innerHTML=""}get content(){return new hr.DocumentFragment}},DocumentFragment:class extends so{},customElements:{get:function(){},define:function(){},whenDefined:function(){}},localStorage:{getItem(t){return null},setItem(t,i){},removeItem(t){}},CustomEvent:function(){},getComputedStyle:function(){},navigator:{languages:[],get userAgent(){return""}},matchMedia(t){return{matches:!1,media:t}},DOMParser:class{parseFromString(i,e){return{body:{textContent:i}}}}},El="global"in globalThis&&(globalThis==null?void 0:globalThis.global)===globalThis||typeof window=="undefined"||typeof window.customElements=="undefined",gl=Object.keys(hr).every(t=>t in globalThis),u=El&&!gl?hr:globalThis,F=El&&!gl?pl:globalThis.document;var bl=new WeakMap,Us=t=>{let i=bl.get(t);return i||bl.set(t,i=new Set),i},fl=new u.ResizeObserver(t=>{for(let i of t)for(let e of Us(i.target))e(i)});function Pe(t,i){Us(t).add(i),fl.observe(t)}function Ue(t,i){let e=Us(t);e.delete(i),e.size||fl.unobserve(t)}function V(t){let i={};for(let e of t)i[e.name]=e.value;return i}function B(t){var i;return(i=uo(t))!=null?i:Ie(t,"media-controller")}function uo(t){var r;let{MEDIA_CONTROLLER:i}=x,e=t.getAttribute(i);if(e)return(r=ct(t))==null?void 0:r.getElementById(e)}var co=(t,i,e=".value")=>{let r=t.querySelector(e);r&&(r.textContent=i)},oc=(t,i)=>{let e=`slot[name="${i}"]`,r=t.shadowRoot.querySelector(e);return r?r.children:[]},mo=(t,i)=>oc(t,i)[0],z=(t,i)=>!t||!i?!1:t!=null&&t.contains(i)?!0:z(t,i.getRootNode().host),Ie=(t,i)=>{if(!t)return null;let e=t.closest(i);return e||Ie(t.getRootNode().host,i)};function pr(t=document){var e;let i=t==null?void 0:t.activeElement;return i?(e=pr(i.shadowRoot))!=null?e:i:null}function ct(t){var e;let i=(e=t==null?void 0:t.getRootNode)==null?void 0:e.call(t);return i instanceof ShadowRoot||i instanceof Document?i:null}function ho(t,{depth:i=3,checkOpacity:e=!0,checkVisibilityCSS:r=!0}={}){if(t.checkVisibility)return t.checkVisibility({checkOpacity:e,checkVisibilityCSS:r});let n=t;for(;n&&i>0;){let o=getComputedStyle(n);if(e&&o.opacity==="0"||r&&o.visibility==="hidden"||o.display==="none")return!1;n=n.parentElement,i--}return!0}function vl(t,i,e,r){let n=r.x-e.x,o=r.y-e.y,l=n*n+o*o;if(l===0)return 0;let d=((t-e.x)*n+(i-e.y)*o)/l;return Math.max(0,Math.min(1,d))}function $(t,i){let e=sc(t,r=>r===i);return e||Er(t,i)}function sc(t,i){var r,n;let e;for(e of(r=t.querySelectorAll("style:not([media])"))!=null?r:[]){let o;try{o=(n=e.sheet)==null?void 0:n.cssRules}catch{continue}for(let l of o!=null?o:[])if(i(l.selectorText))return l}}function Er(t,i){var o,l;let e=(o=t.querySelectorAll("style:not([media])"))!=null?o:[],r=e==null?void 0:e[e.length-1];if(!(r!=null&&r.sheet))return console.warn("Media Chrome: No style sheet found on style tag of",t),{style:{setProperty:()=>{},removeProperty:()=>"",getPropertyValue:()=>""}};let n=r==null?void 0:r.sheet.insertRule(`${i}{}`,r.sheet.cssRules.length);return(l=r.sheet.cssRules)==null?void 0:l[n]}function C(t,i,e=Number.NaN){let r=t.getAttribute(i);return r!=null?+r:e}function w(t,i,e){let r=+e;if(e==null||Number.isNaN(r)){t.hasAttribute(i)&&t.removeAttribute(i);return}C(t,i,void 0)!==r&&t.setAttribute(i,`${r}`)}function S(t,i){return t.hasAttribute(i)}function M(t,i,e){if(e==null){t.hasAttribute(i)&&t.removeAttribute(i);return}S(t,i)!=e&&t.toggleAttribute(i,e)}function _(t,i,e=null){var r;return(r=t.getAttribute(i))!=null?r:e}function k(t,i,e){if(e==null){t.hasAttribute(i)&&t.removeAttribute(i);return}let r=`${e}`;_(t,i,void 0)!==r&&t.setAttribute(i,r)}function ac(t){return`
    <style>
      :host {
        display: var(--media-control-display, var(--media-gesture-receiver-display, inline-block));
        box-sizing: border-box;
      }
    </style>
  `}var Y,oi=class extends u.HTMLElement{constructor(){super();c(this,Y,void 0);if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[x.MEDIA_CONTROLLER,a.MEDIA_PAUSED]}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===x.MEDIA_CONTROLLER&&(r&&((l=(o=s(this,Y))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,Y,null)),n&&this.isConnected&&(h(this,Y,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,Y))==null?void 0:m.associateElement)==null||E.call(m,this)))}connectedCallback(){var e,r;this.tabIndex=-1,this.setAttribute("aria-hidden","true"),h(this,Y,lc(this)),this.getAttribute(x.MEDIA_CONTROLLER)&&((r=(e=s(this,Y))==null?void 0:e.associateElement)==null||r.call(e,this)),s(this,Y)&&(s(this,Y).addEventListener("pointerdown",this),s(this,Y).addEventListener("click",this),s(this,Y).hasAttribute("tabindex")||(s(this,Y).tabIndex=0))}disconnectedCallback(){var e,r,n,o;this.getAttribute(x.MEDIA_CONTROLLER)&&((r=(e=s(this,Y))==null?void 0:e.unassociateElement)==null||r.call(e,this)),(n=s(this,Y))==null||n.removeEventListener("pointerdown",this),(o=s(this,Y))==null||o.removeEventListener("click",this),h(this,Y,null)}handleEvent(e){var o;let r=(o=e.composedPath())==null?void 0:o[0];if(["video","media-controller"].includes(r==null?void 0:r.localName)){if(e.type==="pointerdown")this._pointerType=e.pointerType;else if(e.type==="click"){let{clientX:l,clientY:d}=e,{left:m,top:E,width:v,height:y}=this.getBoundingClientRect(),T=l-m,A=d-E;if(T<0||A<0||T>v||A>y||v===0&&y===0)return;let D=this._pointerType||"mouse";if(this._pointerType=void 0,D===cr.TOUCH){this.handleTap(e);return}else if(D===cr.MOUSE||D===cr.PEN){this.handleMouseClick(e);return}}}}get mediaPaused(){return S(this,a.MEDIA_PAUSED)}set mediaPaused(e){M(this,a.MEDIA_PAUSED,e)}handleTap(e){}handleMouseClick(e){let r=this.mediaPaused?b.MEDIA_PLAY_REQUEST:b.MEDIA_PAUSE_REQUEST;this.dispatchEvent(new u.CustomEvent(r,{composed:!0,bubbles:!0}))}};Y=new WeakMap,oi.shadowRootOptions={mode:"open"},oi.getTemplateHTML=ac;function lc(t){var e;let i=t.getAttribute(x.MEDIA_CONTROLLER);return i?(e=t.getRootNode())==null?void 0:e.getElementById(i):Ie(t,"media-controller")}u.customElements.get("media-gesture-receiver")||u.customElements.define("media-gesture-receiver",oi);var gr=oi;var I={AUDIO:"audio",AUTOHIDE:"autohide",BREAKPOINTS:"breakpoints",GESTURES_DISABLED:"gesturesdisabled",KEYBOARD_CONTROL:"keyboardcontrol",NO_AUTOHIDE:"noautohide",USER_INACTIVE:"userinactive",AUTOHIDE_OVER_CONTROLS:"autohideovercontrols"};function dc(t){return`
    <style>
      
      :host([${a.MEDIA_IS_FULLSCREEN}]) ::slotted([slot=media]) {
        outline: none;
      }

      :host {
        box-sizing: border-box;
        position: relative;
        display: inline-block;
        line-height: 0;
        background-color: var(--media-background-color, #000);
        overflow: hidden;
      }

      :host(:not([${I.AUDIO}])) [part~=layer]:not([part~=media-layer]) {
        position: absolute;
        top: 0;
        left: 0;
        bottom: 0;
        right: 0;
        display: flex;
        flex-flow: column nowrap;
        align-items: start;
        pointer-events: none;
        background: none;
      }

      slot[name=media] {
        display: var(--media-slot-display, contents);
      }

      
      :host([${I.AUDIO}]) slot[name=media] {
        display: var(--media-slot-display, none);
      }

      
      :host([${I.AUDIO}]) [part~=layer][part~=gesture-layer] {
        height: 0;
        display: block;
      }

      
      :host(:not([${I.AUDIO}])[${I.GESTURES_DISABLED}]) ::slotted([slot=gestures-chrome]),
          :host(:not([${I.AUDIO}])[${I.GESTURES_DISABLED}]) media-gesture-receiver[slot=gestures-chrome] {
        display: none;
      }

      
      ::slotted(:not([slot=media]):not([slot=poster]):not(media-loading-indicator):not([role=dialog]):not([hidden])) {
        pointer-events: auto;
      }

      :host(:not([${I.AUDIO}])) *[part~=layer][part~=centered-layer] {
        align-items: center;
        justify-content: center;
      }

      :host(:not([${I.AUDIO}])) ::slotted(media-gesture-receiver[slot=gestures-chrome]),
      :host(:not([${I.AUDIO}])) media-gesture-receiver[slot=gestures-chrome] {
        align-self: stretch;
        flex-grow: 1;
      }

      slot[name=middle-chrome] {
        display: inline;
        flex-grow: 1;
        pointer-events: none;
        background: none;
      }

      
      ::slotted([slot=media]),
      ::slotted([slot=poster]) {
        width: 100%;
        height: 100%;
      }

      
      :host(:not([${I.AUDIO}])) .spacer {
        flex-grow: 1;
      }

      
      :host(:-webkit-full-screen) {
        
        width: 100% !important;
        height: 100% !important;
      }

      
      ::slotted(:not([slot=media]):not([slot=poster]):not([${I.NO_AUTOHIDE}]):not([hidden]):not([role=dialog])) {
        opacity: 1;
        transition: var(--media-control-transition-in, opacity 0.25s);
      }

      
      :host([${I.USER_INACTIVE}]:not([${a.MEDIA_PAUSED}]):not([${a.MEDIA_IS_AIRPLAYING}]):not([${a.MEDIA_IS_CASTING}]):not([${I.AUDIO}])) ::slotted(:not([slot=media]):not([slot=poster]):not([${I.NO_AUTOHIDE}]):not([role=dialog])) {
        opacity: 0;
        transition: var(--media-control-transition-out, opacity 1s);
      }

      :host([${I.USER_INACTIVE}]:not([${I.NO_AUTOHIDE}]):not([${a.MEDIA_PAUSED}]):not([${a.MEDIA_IS_CASTING}]):not([${I.AUDIO}])) ::slotted([slot=media]) {
        cursor: none;
      }

      :host([${I.USER_INACTIVE}][${I.AUTOHIDE_OVER_CONTROLS}]:not([${I.NO_AUTOHIDE}]):not([${a.MEDIA_PAUSED}]):not([${a.MEDIA_IS_CASTING}]):not([${I.AUDIO}])) * {
        --media-cursor: none;
        cursor: none;
      }


      ::slotted(media-control-bar)  {
        align-self: stretch;
      }

      
      
      :host(:not([${I.AUDIO}])[${a.MEDIA_HAS_PLAYED}]) slot[name=poster],
      :host(:not([${I.AUDIO}])[${a.MEDIA_STREAM_TYPE}="${J.ON_DEMAND}"][${a.MEDIA_CURRENT_TIME}]:not([${a.MEDIA_CURRENT_TIME}="0"])) slot[name=poster] {
        display: none;
      }

      ::slotted([role=dialog]) {
        width: 100%;
        height: 100%;
        align-self: center;
      }

      ::slotted([role=menu]) {
        align-self: end;
      }
    </style>

    <slot name="media" part="layer media-layer"></slot>
    <slot name="poster" part="layer poster-layer"></slot>
    <slot name="gestures-chrome" part="layer gesture-layer">
      <media-gesture-receiver slot="gestures-chrome">
        <template shadowrootmode="${gr.shadowRootOptions.mode}">
          ${gr.getTemplateHTML({})}
        </template>
      </media-gesture-receiver>
    </slot>
    <span part="layer vertical-layer">
      <slot name="top-chrome" part="top chrome"></slot>
      <slot name="middle-chrome" part="middle chrome"></slot>
      <slot name="centered-chrome" part="layer centered-layer center centered chrome"></slot>
      
      <slot part="bottom chrome"></slot>
    </span>
    <slot name="dialog" part="layer dialog-layer"></slot>
  `}var uc=Object.values(a),cc="sm:384 md:576 lg:768 xl:960";function mc(t){Tl(t.target,t.contentRect.width)}function Tl(t,i){var l;if(!t.isConnected)return;let e=(l=t.getAttribute(I.BREAKPOINTS))!=null?l:cc,r=hc(e),n=pc(r,i),o=!1;if(Object.keys(r).forEach(d=>{if(n.includes(d)){t.hasAttribute(`breakpoint${d}`)||(t.setAttribute(`breakpoint${d}`,""),o=!0);return}t.hasAttribute(`breakpoint${d}`)&&(t.removeAttribute(`breakpoint${d}`),o=!0)}),o){let d=new CustomEvent(de.BREAKPOINTS_CHANGE,{detail:n});t.dispatchEvent(d)}t.breakpointsComputed||(t.breakpointsComputed=!0,t.dispatchEvent(new CustomEvent(de.BREAKPOINTS_COMPUTED,{bubbles:!0,composed:!0})))}function hc(t){let i=t.split(/\s+/);return Object.fromEntries(i.map(e=>e.split(":")))}function pc(t,i){return Object.keys(t).filter(e=>i>=parseInt(t[e]))}var si,fr,mt,ht,pt,Eo,Et,vr,go,Al,bo,yl,ai,po,Tr,Hs,gt,br,He,Ar,je=class extends u.HTMLElement{constructor(){super();c(this,go);c(this,bo);c(this,ai);c(this,Tr);c(this,gt);c(this,si,void 0);c(this,fr,0);c(this,mt,null);c(this,ht,null);c(this,pt,void 0);this.breakpointsComputed=!1;c(this,Eo,e=>{let r=this.media;for(let n of e){if(n.type!=="childList")continue;let o=n.removedNodes;for(let l of o){if(l.slot!="media"||n.target!=this)continue;let d=n.previousSibling&&n.previousSibling.previousElementSibling;if(!d||!r)this.mediaUnsetCallback(l);else{let m=d.slot!=="media";for(;(d=d.previousSibling)!==null;)d.slot=="media"&&(m=!1);m&&this.mediaUnsetCallback(l)}}if(r)for(let l of n.addedNodes)l===r&&this.handleMediaUpdated(r)}});c(this,Et,!1);c(this,vr,e=>{s(this,Et)||(setTimeout(()=>{mc(e),h(this,Et,!1)},0),h(this,Et,!0))});c(this,He,void 0);c(this,Ar,()=>{if(!s(this,He).assignedElements({flatten:!0}).length){s(this,mt)&&this.mediaUnsetCallback(s(this,mt));return}this.handleMediaUpdated(this.media)});if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes),r=this.constructor.getTemplateHTML(e);this.shadowRoot.setHTMLUnsafe?this.shadowRoot.setHTMLUnsafe(r):this.shadowRoot.innerHTML=r}h(this,si,new MutationObserver(s(this,Eo)))}static get observedAttributes(){return[I.AUTOHIDE,I.GESTURES_DISABLED].concat(uc).filter(e=>![a.MEDIA_RENDITION_LIST,a.MEDIA_AUDIO_TRACK_LIST,a.MEDIA_CHAPTERS_CUES,a.MEDIA_WIDTH,a.MEDIA_HEIGHT,a.MEDIA_ERROR,a.MEDIA_ERROR_MESSAGE].includes(e))}attributeChangedCallback(e,r,n){e.toLowerCase()==I.AUTOHIDE&&(this.autohide=n)}get media(){let e=this.querySelector(":scope > [slot=media]");return(e==null?void 0:e.nodeName)=="SLOT"&&(e=e.assignedElements({flatten:!0})[0]),e}async handleMediaUpdated(e){e&&(h(this,mt,e),e.localName.includes("-")&&await u.customElements.whenDefined(e.localName),this.mediaSetCallback(e))}connectedCallback(){var o;s(this,si).observe(this,{childList:!0,subtree:!0}),Pe(this,s(this,vr));let r=this.getAttribute(I.AUDIO)!=null?g("audio player"):g("video player");this.setAttribute("role","region"),this.setAttribute("aria-label",r),this.handleMediaUpdated(this.media),this.setAttribute(I.USER_INACTIVE,""),Tl(this,this.getBoundingClientRect().width);let n=this.querySelector(":scope > slot[slot=media]");n&&(h(this,He,n),s(this,He).addEventListener("slotchange",s(this,Ar))),this.addEventListener("pointerdown",this),this.addEventListener("pointermove",this),this.addEventListener("pointerup",this),this.addEventListener("mouseleave",this),this.addEventListener("keyup",this),(o=u.window)==null||o.addEventListener("mouseup",this)}disconnectedCallback(){var e;Ue(this,s(this,vr)),clearTimeout(s(this,ht)),s(this,si).disconnect(),this.media&&this.mediaUnsetCallback(this.media),(e=u.window)==null||e.removeEventListener("mouseup",this),this.removeEventListener("pointerdown",this),this.removeEventListener("pointermove",this),this.removeEventListener("pointerup",this),this.removeEventListener("mouseleave",this),this.removeEventListener("keyup",this),s(this,He)&&(s(this,He).removeEventListener("slotchange",s(this,Ar)),h(this,He,null)),h(this,Et,!1)}mediaSetCallback(e){}mediaUnsetCallback(e){h(this,mt,null)}handleEvent(e){switch(e.type){case"pointerdown":h(this,fr,e.timeStamp);break;case"pointermove":p(this,go,Al).call(this,e);break;case"pointerup":p(this,bo,yl).call(this,e);break;case"mouseleave":p(this,ai,po).call(this);break;case"mouseup":this.removeAttribute(I.KEYBOARD_CONTROL);break;case"keyup":p(this,gt,br).call(this),this.setAttribute(I.KEYBOARD_CONTROL,"");break}}set autohide(e){let r=Number(e);h(this,pt,isNaN(r)?0:r)}get autohide(){return(s(this,pt)===void 0?2:s(this,pt)).toString()}get breakpoints(){return _(this,I.BREAKPOINTS)}set breakpoints(e){k(this,I.BREAKPOINTS,e)}get audio(){return S(this,I.AUDIO)}set audio(e){M(this,I.AUDIO,e)}get gesturesDisabled(){return S(this,I.GESTURES_DISABLED)}set gesturesDisabled(e){M(this,I.GESTURES_DISABLED,e)}get keyboardControl(){return S(this,I.KEYBOARD_CONTROL)}set keyboardControl(e){M(this,I.KEYBOARD_CONTROL,e)}get noAutohide(){return S(this,I.NO_AUTOHIDE)}set noAutohide(e){M(this,I.NO_AUTOHIDE,e)}get autohideOverControls(){return S(this,I.AUTOHIDE_OVER_CONTROLS)}set autohideOverControls(e){M(this,I.AUTOHIDE_OVER_CONTROLS,e)}get userInteractive(){return S(this,I.USER_INACTIVE)}set userInteractive(e){M(this,I.USER_INACTIVE,e)}};si=new WeakMap,fr=new WeakMap,mt=new WeakMap,ht=new WeakMap,pt=new WeakMap,Eo=new WeakMap,Et=new WeakMap,vr=new WeakMap,go=new WeakSet,Al=function(e){if(e.pointerType!=="mouse"&&e.timeStamp-s(this,fr)<250)return;p(this,Tr,Hs).call(this),clearTimeout(s(this,ht));let r=this.hasAttribute(I.AUTOHIDE_OVER_CONTROLS);([this,this.media].includes(e.target)||r)&&p(this,gt,br).call(this)},bo=new WeakSet,yl=function(e){if(e.pointerType==="touch"){let r=!this.hasAttribute(I.USER_INACTIVE);[this,this.media].includes(e.target)&&r?p(this,ai,po).call(this):p(this,gt,br).call(this)}else e.composedPath().some(r=>["media-play-button","media-fullscreen-button"].includes(r==null?void 0:r.localName))&&p(this,gt,br).call(this)},ai=new WeakSet,po=function(){if(s(this,pt)<0||this.hasAttribute(I.USER_INACTIVE))return;this.setAttribute(I.USER_INACTIVE,"");let e=new u.CustomEvent(de.USER_INACTIVE_CHANGE,{composed:!0,bubbles:!0,detail:!0});this.dispatchEvent(e)},Tr=new WeakSet,Hs=function(){if(!this.hasAttribute(I.USER_INACTIVE))return;this.removeAttribute(I.USER_INACTIVE);let e=new u.CustomEvent(de.USER_INACTIVE_CHANGE,{composed:!0,bubbles:!0,detail:!1});this.dispatchEvent(e)},gt=new WeakSet,br=function(){p(this,Tr,Hs).call(this),clearTimeout(s(this,ht));let e=parseInt(this.autohide);e<0||h(this,ht,setTimeout(()=>{p(this,ai,po).call(this)},e*1e3))},He=new WeakMap,Ar=new WeakMap,je.shadowRootOptions={mode:"open"},je.getTemplateHTML=dc;u.customElements.get("media-container")||u.customElements.define("media-container",je);var Sl=je;function Ec(t){return`
    <style>
      :host {
        font: var(--media-font,
          var(--media-font-weight, normal)
          var(--media-font-size, 14px) /
          var(--media-text-content-height, var(--media-control-height, 24px))
          var(--media-font-family, helvetica neue, segoe ui, roboto, arial, sans-serif));
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        display: var(--media-dialog-display, inline-flex);
        justify-content: center;
        align-items: center;
        
        transition-behavior: allow-discrete;
        visibility: hidden;
        opacity: 0;
        transform: translateY(2px) scale(.99);
        pointer-events: none;
      }

      :host([open]) {
        transition: display .2s, visibility 0s, opacity .2s ease-out, transform .15s ease-out;
        visibility: visible;
        opacity: 1;
        transform: translateY(0) scale(1);
        pointer-events: auto;
      }

      #content {
        display: flex;
        position: relative;
        box-sizing: border-box;
        width: min(320px, 100%);
        word-wrap: break-word;
        max-height: 100%;
        overflow: auto;
        text-align: center;
        line-height: 1.4;
      }
    </style>
    ${this.getSlotTemplateHTML(t)}
  `}function gc(t){return`
    <slot id="content"></slot>
  `}var yr={OPEN:"open",ANCHOR:"anchor"},Sr,li,Qe,Mr,Ns,fo,Ml,vo,Il,To,Ll,Ao,kl,yo,_l,ue=class extends u.HTMLElement{constructor(){super();c(this,Mr);c(this,fo);c(this,vo);c(this,To);c(this,Ao);c(this,yo);c(this,Sr,!1);c(this,li,null);c(this,Qe,null)}static get observedAttributes(){return[yr.OPEN,yr.ANCHOR]}get open(){return S(this,yr.OPEN)}set open(e){M(this,yr.OPEN,e)}handleEvent(e){switch(e.type){case"invoke":p(this,To,Ll).call(this,e);break;case"focusout":p(this,Ao,kl).call(this,e);break;case"keydown":p(this,yo,_l).call(this,e);break}}connectedCallback(){p(this,Mr,Ns).call(this),this.role||(this.role="dialog"),this.addEventListener("invoke",this),this.addEventListener("focusout",this),this.addEventListener("keydown",this)}disconnectedCallback(){this.removeEventListener("invoke",this),this.removeEventListener("focusout",this),this.removeEventListener("keydown",this)}attributeChangedCallback(e,r,n){p(this,Mr,Ns).call(this),e===yr.OPEN&&n!==r&&(this.open?p(this,fo,Ml).call(this):p(this,vo,Il).call(this))}focus(){h(this,li,pr());let e=!this.dispatchEvent(new Event("focus",{composed:!0,cancelable:!0})),r=!this.dispatchEvent(new Event("focusin",{composed:!0,bubbles:!0,cancelable:!0}));if(e||r)return;let n=this.querySelector('[autofocus], [tabindex]:not([tabindex="-1"]), [role="menu"]');n==null||n.focus()}get keysUsed(){return["Escape","Tab"]}};Sr=new WeakMap,li=new WeakMap,Qe=new WeakMap,Mr=new WeakSet,Ns=function(){if(!s(this,Sr)&&(h(this,Sr,!0),!this.shadowRoot)){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e),queueMicrotask(()=>{let{style:r}=$(this.shadowRoot,":host");r.setProperty("transition","display .15s, visibility .15s, opacity .15s ease-in, transform .15s ease-in")})}},fo=new WeakSet,Ml=function(){var e;(e=s(this,Qe))==null||e.setAttribute("aria-expanded","true"),this.dispatchEvent(new Event("open",{composed:!0,bubbles:!0})),this.addEventListener("transitionend",()=>this.focus(),{once:!0})},vo=new WeakSet,Il=function(){var e;(e=s(this,Qe))==null||e.setAttribute("aria-expanded","false"),this.dispatchEvent(new Event("close",{composed:!0,bubbles:!0}))},To=new WeakSet,Ll=function(e){h(this,Qe,e.relatedTarget),z(this,e.relatedTarget)||(this.open=!this.open)},Ao=new WeakSet,kl=function(e){var r;z(this,e.relatedTarget)||((r=s(this,li))==null||r.focus(),s(this,Qe)&&s(this,Qe)!==e.relatedTarget&&this.open&&(this.open=!1))},yo=new WeakSet,_l=function(e){var d,m,E,v,y;let{key:r,ctrlKey:n,altKey:o,metaKey:l}=e;n||o||l||this.keysUsed.includes(r)&&(e.preventDefault(),e.stopPropagation(),r==="Tab"?(e.shiftKey?(m=(d=this.previousElementSibling)==null?void 0:d.focus)==null||m.call(d):(v=(E=this.nextElementSibling)==null?void 0:E.focus)==null||v.call(E),this.blur()):r==="Escape"&&((y=s(this,li))==null||y.focus(),this.open=!1))},ue.shadowRootOptions={mode:"open"},ue.getTemplateHTML=Ec,ue.getSlotTemplateHTML=gc;u.customElements.get("media-chrome-dialog")||u.customElements.define("media-chrome-dialog",ue);var Rl=ue;var Ir={HOTKEYS:"hotkeys"},bc=[{keys:[{key:" ",label:"Space"},{key:"k"}],description:"Toggle Playback"},{keys:[{key:"m"}],description:"Toggle mute"},{keys:[{key:"f"}],description:"Toggle fullscreen"},{keys:[{key:"c"}],description:"Toggle captions or subtitles, if available"},{keys:[{key:"p"}],description:"Toggle Picture in Picture"},{keys:[{key:"ArrowLeft",label:"\u2190"},{key:"j"}],description:"Seek back 10s"},{keys:[{key:"ArrowRight",label:"\u2192"},{key:"l"}],description:"Seek forward 10s"},{keys:[{key:"ArrowUp",label:"\u2191"}],description:"Turn volume up"},{keys:[{key:"ArrowDown",label:"\u2193"}],description:"Turn volume down"},{keys:[{key:"<",label:"< (SHIFT+,)"}],description:"Decrease playback rate"},{keys:[{key:">",label:"> (SHIFT+.)"}],description:"Increase playback rate"},{keys:[{key:"shift+/",label:"SHIFT+/"}],description:"Show keyboard shortcuts"}];function So(t){return t===" "?"nospace":`no${t.toLowerCase()}`}function fc(t){let i=new Set(t==null?void 0:t.split(/\s+/));return bc.map(({keys:e,description:r})=>({keys:e.filter(({key:n})=>!i.has(So(n))),description:r})).filter(({keys:e})=>e.length)}function vc(t){return`
    <style>
      :host {
        position: fixed;
        top: 0;
        left: 0;
        z-index: 9999;
        background: rgb(20 20 30 / .8);
        backdrop-filter: blur(10px);
      }

      #content {
        display: block;
        width: clamp(400px, 40vw, 700px);
        max-width: 90vw;
        text-align: left;
      }

      h2 {
        margin: 0 0 1.5rem 0;
        font-size: 1.5rem;
        font-weight: 500;
        text-align: center;
      }

      .shortcuts-table {
        width: 100%;
        border-collapse: collapse;
      }

      .shortcuts-table tr {
        border-bottom: 1px solid rgba(255, 255, 255, 0.1);
      }

      .shortcuts-table tr:last-child {
        border-bottom: none;
      }

      .shortcuts-table td {
        padding: 0.75rem 0.5rem;
      }

      .shortcuts-table td:first-child {
        text-align: right;
        padding-right: 1rem;
        width: 40%;
        min-width: 120px;
      }

      .shortcuts-table td:last-child {
        padding-left: 1rem;
      }

      .key {
        display: inline-block;
        background: rgba(255, 255, 255, 0.15);
        border: 1px solid rgba(255, 255, 255, 0.2);
        border-radius: 4px;
        padding: 0.25rem 0.5rem;
        font-family: 'Courier New', monospace;
        font-size: 0.9rem;
        font-weight: 500;
        min-width: 1.5rem;
        text-align: center;
        margin: 0 0.2rem;
      }

      .description {
        color: rgba(255, 255, 255, 0.9);
        font-size: 0.95rem;
      }

      .key-combo {
        display: flex;
        align-items: center;
        justify-content: flex-end;
        gap: 0.3rem;
      }

      .key-separator {
        color: rgba(255, 255, 255, 0.5);
        font-size: 0.9rem;
      }
    </style>
    <slot id="content">
      ${xl(t[Ir.HOTKEYS])}
    </slot>
  `}function xl(t){return`
    <h2>Keyboard Shortcuts</h2>
    <table class="shortcuts-table">${fc(t).map(({keys:e,description:r})=>`
        <tr>
          <td>
            <div class="key-combo">${e.map(({key:o,label:l=o},d)=>d>0?`<span class="key-separator">or</span><span class="key">${l}</span>`:`<span class="key">${l}</span>`).join("")}</div>
          </td>
          <td class="description">${r}</td>
        </tr>
      `).join("")}</table>
  `}var bt,ft,Lr=class extends ue{constructor(){super(...arguments);c(this,bt,e=>{var d;if(!this.open)return;let r=(d=this.shadowRoot)==null?void 0:d.querySelector("#content");if(!r)return;let n=e.composedPath(),o=n[0]===this||n.includes(this),l=n.includes(r);o&&!l&&(this.open=!1)});c(this,ft,e=>{if(!this.open)return;let r=e.shiftKey&&(e.key==="/"||e.key==="?");(e.key==="Escape"||r)&&!e.ctrlKey&&!e.altKey&&!e.metaKey&&(this.open=!1,e.preventDefault(),e.stopPropagation())})}static get observedAttributes(){return[...super.observedAttributes,Ir.HOTKEYS]}get hotkeys(){var e;return(e=_(this,Ir.HOTKEYS))!=null?e:void 0}set hotkeys(e){k(this,Ir.HOTKEYS,e)}connectedCallback(){super.connectedCallback(),this.open&&(this.addEventListener("click",s(this,bt)),document.addEventListener("keydown",s(this,ft)))}disconnectedCallback(){this.removeEventListener("click",s(this,bt)),document.removeEventListener("keydown",s(this,ft))}attributeChangedCallback(e,r,n){var o;if(super.attributeChangedCallback(e,r,n),e==="open")this.open?(this.addEventListener("click",s(this,bt)),document.addEventListener("keydown",s(this,ft))):(this.removeEventListener("click",s(this,bt)),document.removeEventListener("keydown",s(this,ft)));else if(e===Ir.HOTKEYS&&n!==r){let l=(o=this.shadowRoot)==null?void 0:o.querySelector("#content");l&&(l.innerHTML=xl(n))}}};bt=new WeakMap,ft=new WeakMap,Lr.getSlotTemplateHTML=vc;u.customElements.get("media-keyboard-shortcuts-dialog")||u.customElements.define("media-keyboard-shortcuts-dialog",Lr);var Cl=Lr;var vt,Tt,kr,Ze,Le,ze,Xe=class{constructor(i,e,{defaultValue:r}={defaultValue:void 0}){c(this,Le);c(this,vt,void 0);c(this,Tt,void 0);c(this,kr,void 0);c(this,Ze,new Set);h(this,vt,i),h(this,Tt,e),h(this,kr,new Set(r))}[Symbol.iterator](){return s(this,Le,ze).values()}get length(){return s(this,Le,ze).size}get value(){var i;return(i=[...s(this,Le,ze)].join(" "))!=null?i:""}set value(i){var e;i!==this.value&&(h(this,Ze,new Set),this.add(...(e=i==null?void 0:i.split(" "))!=null?e:[]))}toString(){return this.value}item(i){return[...s(this,Le,ze)][i]}values(){return s(this,Le,ze).values()}forEach(i,e){s(this,Le,ze).forEach(i,e)}add(...i){var e,r;i.forEach(n=>s(this,Ze).add(n)),!(this.value===""&&!((e=s(this,vt))!=null&&e.hasAttribute(`${s(this,Tt)}`)))&&((r=s(this,vt))==null||r.setAttribute(`${s(this,Tt)}`,`${this.value}`))}remove(...i){var e;i.forEach(r=>s(this,Ze).delete(r)),(e=s(this,vt))==null||e.setAttribute(`${s(this,Tt)}`,`${this.value}`)}contains(i){return s(this,Le,ze).has(i)}toggle(i,e){return typeof e!="undefined"?e?(this.add(i),!0):(this.remove(i),!1):this.contains(i)?(this.remove(i),!1):(this.add(i),!0)}replace(i,e){return this.remove(i),this.add(e),i===e}};vt=new WeakMap,Tt=new WeakMap,kr=new WeakMap,Ze=new WeakMap,Le=new WeakSet,ze=function(){return s(this,Ze).size?s(this,Ze):s(this,kr)};var Tc=(t="")=>t.split(/\s+/),Dl=(t="")=>{let[i,e,r]=t.split(":"),n=r?decodeURIComponent(r):void 0;return{kind:i==="cc"?j.CAPTIONS:j.SUBTITLES,language:e,label:n}},At=(t="",i={})=>Tc(t).map(e=>{let r=Dl(e);return{...i,...r}}),Fs=t=>t?Array.isArray(t)?t.map(i=>typeof i=="string"?Dl(i):i):typeof t=="string"?At(t):[t]:[],Mo=({kind:t,label:i,language:e}={kind:"subtitles"})=>i?`${t==="captions"?"cc":"sb"}:${e}:${encodeURIComponent(i)}`:e,Ne=(t=[])=>Array.prototype.map.call(t,Mo).join(" "),Ac=(t,i)=>e=>e[t]===i,wl=t=>{let i=Object.entries(t).map(([e,r])=>Ac(e,r));return e=>i.every(r=>r(e))},yt=(t,i=[],e=[])=>{let r=Fs(e).map(wl),n=o=>r.some(l=>l(o));Array.from(i).filter(n).forEach(o=>{o.mode=t})},St=(t,i=()=>!0)=>{if(!(t!=null&&t.textTracks))return[];let e=typeof i=="function"?i:wl(i);return Array.from(t.textTracks).filter(e)},Io=t=>{var e;return!!((e=t.mediaSubtitlesShowing)!=null&&e.length)||t.hasAttribute(a.MEDIA_SUBTITLES_SHOWING)};var Pl=t=>{var r;let{media:i,fullscreenElement:e}=t;try{let n=e&&"requestFullscreen"in e?"requestFullscreen":e&&"webkitRequestFullScreen"in e?"webkitRequestFullScreen":void 0;if(n){let o=(r=e[n])==null?void 0:r.call(e);if(o instanceof Promise)return o.catch(()=>{})}else i!=null&&i.webkitEnterFullscreen?i.webkitEnterFullscreen():i!=null&&i.requestFullscreen&&i.requestFullscreen()}catch(n){console.error(n)}},Ol="exitFullscreen"in F?"exitFullscreen":"webkitExitFullscreen"in F?"webkitExitFullscreen":"webkitCancelFullScreen"in F?"webkitCancelFullScreen":void 0,Ul=t=>{var e;let{documentElement:i}=t;if(Ol){let r=(e=i==null?void 0:i[Ol])==null?void 0:e.call(i);if(r instanceof Promise)return r.catch(()=>{})}},_r="fullscreenElement"in F?"fullscreenElement":"webkitFullscreenElement"in F?"webkitFullscreenElement":void 0,yc=t=>{let{documentElement:i,media:e}=t,r=i==null?void 0:i[_r];return!r&&"webkitDisplayingFullscreen"in e&&"webkitPresentationMode"in e&&e.webkitDisplayingFullscreen&&e.webkitPresentationMode===Os.FULLSCREEN?e:r},Hl=t=>{var o;let{media:i,documentElement:e,fullscreenElement:r=i}=t;if(!i||!e)return!1;let n=yc(t);if(!n)return!1;if(n===r||n===i)return!0;if(n.localName.includes("-")){let l=n.shadowRoot;if(!(_r in l))return z(n,r);for(;l!=null&&l[_r];){if(l[_r]===r)return!0;l=(o=l[_r])==null?void 0:o.shadowRoot}}return!1},Sc="fullscreenEnabled"in F?"fullscreenEnabled":"webkitFullscreenEnabled"in F?"webkitFullscreenEnabled":void 0,Nl=t=>{let{documentElement:i,media:e}=t;return!!(i!=null&&i[Sc])||e&&"webkitSupportsFullscreen"in e};var Lo,Bs=()=>{var t,i;return Lo||(Lo=(i=(t=F)==null?void 0:t.createElement)==null?void 0:i.call(t,"video"),Lo)},Fl=async(t=Bs())=>{if(!t)return!1;let i=t.volume;t.volume=i/2+.1;let e=new AbortController,r=await Promise.race([Mc(t,e.signal),Ic(t,i)]);return e.abort(),r},Mc=(t,i)=>new Promise(e=>{t.addEventListener("volumechange",()=>e(!0),{signal:i})}),Ic=async(t,i)=>{for(let e=0;e<10;e++){if(t.volume===i)return!1;await ro(10)}return t.volume!==i},Lc=/.*Version\/.*Safari\/.*/.test(u.navigator.userAgent),$s=(t=Bs())=>u.matchMedia("(display-mode: standalone)").matches&&Lc?!1:typeof(t==null?void 0:t.requestPictureInPicture)=="function",Vs=(t=Bs())=>Nl({documentElement:F,media:t}),Bl=Vs(),$l=$s(),Vl=!!u.WebKitPlaybackTargetAvailabilityEvent,Kl=!!u.chrome;var di=t=>St(t.media,i=>[j.SUBTITLES,j.CAPTIONS].includes(i.kind)).sort((i,e)=>i.kind>=e.kind?1:-1),Ks=t=>St(t.media,i=>i.mode===Oe.SHOWING&&[j.SUBTITLES,j.CAPTIONS].includes(i.kind)),ko=(t,i)=>{let e=di(t),r=Ks(t),n=!!r.length;if(e.length){if(i===!1||n&&i!==!0)yt(Oe.DISABLED,e,r);else if(i===!0||!n&&i!==!1){let o=e[0],{options:l}=t;if(!(l!=null&&l.noSubtitlesLangPref)){let v=u.localStorage.getItem("media-chrome-pref-subtitles-lang"),y=v?[v,...u.navigator.languages]:u.navigator.languages,T=e.filter(A=>y.some(D=>A.language.toLowerCase().startsWith(D.split("-")[0]))).sort((A,D)=>{let L=y.findIndex(P=>A.language.toLowerCase().startsWith(P.split("-")[0])),R=y.findIndex(P=>D.language.toLowerCase().startsWith(P.split("-")[0]));return L-R});T[0]&&(o=T[0])}let{language:d,label:m,kind:E}=o;yt(Oe.DISABLED,e,r),yt(Oe.SHOWING,e,[{language:d,label:m,kind:E}])}}},_o=(t,i)=>t===i?!0:t==null||i==null||typeof t!=typeof i?!1:typeof t=="number"&&Number.isNaN(t)&&Number.isNaN(i)?!0:typeof t!="object"?!1:Array.isArray(t)?kc(t,i):Object.entries(t).every(([e,r])=>e in i&&_o(r,i[e])),kc=(t,i)=>{let e=Array.isArray(t),r=Array.isArray(i);return e!==r?!1:e||r?t.length!==i.length?!1:t.every((n,o)=>_o(n,i[o])):!0};var _c=Object.values(J),Ro,Rc=Fl().then(t=>(Ro=t,Ro)),Gl=async(...t)=>{await Promise.all(t.filter(i=>i).map(async i=>{if(!("localName"in i&&i instanceof u.HTMLElement))return;let e=i.localName;if(!e.includes("-"))return;let r=u.customElements.get(e);r&&i instanceof r||(await u.customElements.whenDefined(e),u.customElements.upgrade(i))}))},xc=new u.DOMParser,Cc=t=>t&&(xc.parseFromString(t,"text/html").body.textContent||t),ui={mediaError:{get(t,i){let{media:e}=t;if((i==null?void 0:i.type)!=="playing")return e==null?void 0:e.error},mediaEvents:["emptied","error","playing"]},mediaErrorCode:{get(t,i){var r;let{media:e}=t;if((i==null?void 0:i.type)!=="playing")return(r=e==null?void 0:e.error)==null?void 0:r.code},mediaEvents:["emptied","error","playing"]},mediaErrorMessage:{get(t,i){var r,n;let{media:e}=t;if((i==null?void 0:i.type)!=="playing")return(n=(r=e==null?void 0:e.error)==null?void 0:r.message)!=null?n:""},mediaEvents:["emptied","error","playing"]},mediaWidth:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.videoWidth)!=null?e:0},mediaEvents:["resize"]},mediaHeight:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.videoHeight)!=null?e:0},mediaEvents:["resize"]},mediaPaused:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.paused)!=null?e:!0},set(t,i){var r;let{media:e}=i;e&&(t?e.pause():(r=e.play())==null||r.catch(()=>{}))},mediaEvents:["play","playing","pause","emptied"]},mediaHasPlayed:{get(t,i){let{media:e}=t;return e?i?i.type==="playing":!e.paused:!1},mediaEvents:["playing","emptied"]},mediaEnded:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.ended)!=null?e:!1},mediaEvents:["seeked","ended","emptied"]},mediaPlaybackRate:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.playbackRate)!=null?e:1},set(t,i){let{media:e}=i;e&&Number.isFinite(+t)&&(e.playbackRate=+t)},mediaEvents:["ratechange","loadstart"]},mediaMuted:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.muted)!=null?e:!1},set(t,i){let{media:e,options:{noMutedPref:r}={}}=i;if(e){e.muted=t;try{let n=u.localStorage.getItem("media-chrome-pref-muted")!==null,o=e.hasAttribute("muted");if(r){n&&u.localStorage.removeItem("media-chrome-pref-muted");return}if(o&&!n)return;u.localStorage.setItem("media-chrome-pref-muted",t?"true":"false")}catch(n){console.debug("Error setting muted pref",n)}}},mediaEvents:["volumechange"],stateOwnersUpdateHandlers:[(t,i)=>{let{options:{noMutedPref:e}}=i,{media:r}=i;if(!(!r||r.muted||e))try{let n=u.localStorage.getItem("media-chrome-pref-muted")==="true";ui.mediaMuted.set(n,i),t(n)}catch(n){console.debug("Error getting muted pref",n)}}]},mediaLoop:{get(t){let{media:i}=t;return i==null?void 0:i.loop},set(t,i){let{media:e}=i;e&&(e.loop=t)},mediaEvents:["medialooprequest"]},mediaVolume:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.volume)!=null?e:1},set(t,i){let{media:e,options:{noVolumePref:r}={}}=i;if(e){try{t==null?u.localStorage.removeItem("media-chrome-pref-volume"):!e.hasAttribute("muted")&&!r&&u.localStorage.setItem("media-chrome-pref-volume",t.toString())}catch(n){console.debug("Error setting volume pref",n)}Number.isFinite(+t)&&(e.volume=+t)}},mediaEvents:["volumechange"],stateOwnersUpdateHandlers:[(t,i)=>{let{options:{noVolumePref:e}}=i;if(!e)try{let{media:r}=i;if(!r)return;let n=u.localStorage.getItem("media-chrome-pref-volume");if(n==null)return;ui.mediaVolume.set(+n,i),t(+n)}catch(r){console.debug("Error getting volume pref",r)}}]},mediaVolumeLevel:{get(t){let{media:i}=t;return typeof(i==null?void 0:i.volume)=="undefined"?"high":i.muted||i.volume===0?"off":i.volume<.5?"low":i.volume<.75?"medium":"high"},mediaEvents:["volumechange"]},mediaCurrentTime:{get(t){var e;let{media:i}=t;return(e=i==null?void 0:i.currentTime)!=null?e:0},set(t,i){let{media:e}=i;!e||!ri(t)||(e.currentTime=t)},mediaEvents:["timeupdate","loadedmetadata","seeking"]},mediaDuration:{get(t){let{media:i,options:{defaultDuration:e}={}}=t;return e&&(!i||!i.duration||Number.isNaN(i.duration)||!Number.isFinite(i.duration))?e:Number.isFinite(i==null?void 0:i.duration)?i.duration:Number.NaN},mediaEvents:["durationchange","loadedmetadata","emptied"]},mediaLoading:{get(t){let{media:i}=t;return(i==null?void 0:i.readyState)<3},mediaEvents:["waiting","playing","emptied"]},mediaSeekable:{get(t){var n;let{media:i}=t;if(!((n=i==null?void 0:i.seekable)!=null&&n.length))return;let e=i.seekable.start(0),r=i.seekable.end(i.seekable.length-1);if(!(!e&&!r))return[Number(e.toFixed(3)),Number(r.toFixed(3))]},mediaEvents:["loadedmetadata","emptied","progress","seekablechange"]},mediaBuffered:{get(t){var r;let{media:i}=t,e=(r=i==null?void 0:i.buffered)!=null?r:[];return Array.from(e).map((n,o)=>[Number(e.start(o).toFixed(3)),Number(e.end(o).toFixed(3))])},mediaEvents:["progress","emptied"]},mediaStreamType:{get(t){let{media:i,options:{defaultStreamType:e}={}}=t,r=[J.LIVE,J.ON_DEMAND].includes(e)?e:void 0;if(!i)return r;let{streamType:n}=i;if(_c.includes(n))return n===J.UNKNOWN?r:n;let o=i.duration;return o===1/0?J.LIVE:Number.isFinite(o)?J.ON_DEMAND:r},mediaEvents:["emptied","durationchange","loadedmetadata","streamtypechange"]},mediaTargetLiveWindow:{get(t){let{media:i}=t;if(!i)return Number.NaN;let{targetLiveWindow:e}=i,r=ui.mediaStreamType.get(t);return(e==null||Number.isNaN(e))&&r===J.LIVE?0:e},mediaEvents:["emptied","durationchange","loadedmetadata","streamtypechange","targetlivewindowchange"]},mediaTimeIsLive:{get(t){let{media:i,options:{liveEdgeOffset:e=10}={}}=t;if(!i)return!1;if(typeof i.liveEdgeStart=="number")return Number.isNaN(i.liveEdgeStart)?!1:i.currentTime>=i.liveEdgeStart;if(!(ui.mediaStreamType.get(t)===J.LIVE))return!1;let n=i.seekable;if(!n)return!0;if(!n.length)return!1;let o=n.end(n.length-1)-e;return i.currentTime>=o},mediaEvents:["playing","timeupdate","progress","waiting","emptied"]},mediaSubtitlesList:{get(t){return di(t).map(({kind:i,label:e,language:r})=>({kind:i,label:e,language:r}))},mediaEvents:["loadstart"],textTracksEvents:["addtrack","removetrack"]},mediaSubtitlesShowing:{get(t){return Ks(t).map(({kind:i,label:e,language:r})=>({kind:i,label:e,language:r}))},mediaEvents:["loadstart"],textTracksEvents:["addtrack","removetrack","change"],stateOwnersUpdateHandlers:[(t,i)=>{var o,l;let{media:e,options:r}=i;if(!e)return;let n=d=>{var E;!r.defaultSubtitles||d&&![j.CAPTIONS,j.SUBTITLES].includes((E=d==null?void 0:d.track)==null?void 0:E.kind)||ko(i,!0)};return e.addEventListener("loadstart",n),(o=e.textTracks)==null||o.addEventListener("addtrack",n),(l=e.textTracks)==null||l.addEventListener("removetrack",n),()=>{var d,m;e.removeEventListener("loadstart",n),(d=e.textTracks)==null||d.removeEventListener("addtrack",n),(m=e.textTracks)==null||m.removeEventListener("removetrack",n)}}]},mediaChaptersCues:{get(t){var r;let{media:i}=t;if(!i)return[];let[e]=St(i,{kind:j.CHAPTERS});return Array.from((r=e==null?void 0:e.cues)!=null?r:[]).map(({text:n,startTime:o,endTime:l})=>({text:Cc(n),startTime:o,endTime:l}))},mediaEvents:["loadstart","loadedmetadata"],textTracksEvents:["addtrack","removetrack","change"],stateOwnersUpdateHandlers:[(t,i)=>{var o;let{media:e}=i;if(!e)return;let r=e.querySelector('track[kind="chapters"][default][src]'),n=(o=e.shadowRoot)==null?void 0:o.querySelector(':is(video,audio) > track[kind="chapters"][default][src]');return r==null||r.addEventListener("load",t),n==null||n.addEventListener("load",t),()=>{r==null||r.removeEventListener("load",t),n==null||n.removeEventListener("load",t)}}]},mediaIsPip:{get(t){var r,n;let{media:i,documentElement:e}=t;if(!i||!e||!e.pictureInPictureElement)return!1;if(e.pictureInPictureElement===i)return!0;if(e.pictureInPictureElement instanceof HTMLMediaElement)return(r=i.localName)!=null&&r.includes("-")?z(i,e.pictureInPictureElement):!1;if(e.pictureInPictureElement.localName.includes("-")){let o=e.pictureInPictureElement.shadowRoot;for(;o!=null&&o.pictureInPictureElement;){if(o.pictureInPictureElement===i)return!0;o=(n=o.pictureInPictureElement)==null?void 0:n.shadowRoot}}return!1},set(t,i){let{media:e}=i;if(e)if(t){if(!F.pictureInPictureEnabled){console.warn("MediaChrome: Picture-in-picture is not enabled");return}if(!e.requestPictureInPicture){console.warn("MediaChrome: The current media does not support picture-in-picture");return}let r=()=>{console.warn("MediaChrome: The media is not ready for picture-in-picture. It must have a readyState > 0.")};e.requestPictureInPicture().catch(n=>{if(n.code===11){if(!e.src){console.warn("MediaChrome: The media is not ready for picture-in-picture. It must have a src set.");return}if(e.readyState===0&&e.preload==="none"){let o=()=>{e.removeEventListener("loadedmetadata",l),e.preload="none"},l=()=>{e.requestPictureInPicture().catch(r),o()};e.addEventListener("loadedmetadata",l),e.preload="metadata",setTimeout(()=>{e.readyState===0&&r(),o()},1e3)}else throw n}else throw n})}else F.pictureInPictureElement&&F.exitPictureInPicture()},mediaEvents:["enterpictureinpicture","leavepictureinpicture"]},mediaRenditionList:{get(t){var e;let{media:i}=t;return[...(e=i==null?void 0:i.videoRenditions)!=null?e:[]].map(r=>({...r}))},mediaEvents:["emptied","loadstart"],videoRenditionsEvents:["addrendition","removerendition"]},mediaRenditionSelected:{get(t){var e,r,n;let{media:i}=t;return(n=(r=i==null?void 0:i.videoRenditions)==null?void 0:r[(e=i.videoRenditions)==null?void 0:e.selectedIndex])==null?void 0:n.id},set(t,i){let{media:e}=i;if(!(e!=null&&e.videoRenditions)){console.warn("MediaController: Rendition selection not supported by this media.");return}let r=t,n=Array.prototype.findIndex.call(e.videoRenditions,o=>o.id==r);e.videoRenditions.selectedIndex!=n&&(e.videoRenditions.selectedIndex=n)},mediaEvents:["emptied"],videoRenditionsEvents:["addrendition","removerendition","change"]},mediaAudioTrackList:{get(t){var e;let{media:i}=t;return[...(e=i==null?void 0:i.audioTracks)!=null?e:[]]},mediaEvents:["emptied","loadstart"],audioTracksEvents:["addtrack","removetrack"]},mediaAudioTrackEnabled:{get(t){var e,r;let{media:i}=t;return(r=[...(e=i==null?void 0:i.audioTracks)!=null?e:[]].find(n=>n.enabled))==null?void 0:r.id},set(t,i){let{media:e}=i;if(!(e!=null&&e.audioTracks)){console.warn("MediaChrome: Audio track selection not supported by this media.");return}let r=t;for(let n of e.audioTracks)n.enabled=r==n.id},mediaEvents:["emptied"],audioTracksEvents:["addtrack","removetrack","change"]},mediaIsFullscreen:{get(t){return Hl(t)},set(t,i,e){var r,n;t?(Pl(i),e.detail&&!((r=i.media)!=null&&r.inert)&&((n=i.media)==null||n.focus())):Ul(i)},rootEvents:["fullscreenchange","webkitfullscreenchange"],mediaEvents:["webkitbeginfullscreen","webkitendfullscreen","webkitpresentationmodechanged"]},mediaIsCasting:{get(t){var e;let{media:i}=t;return!(i!=null&&i.remote)||((e=i.remote)==null?void 0:e.state)==="disconnected"?!1:i.remote.state==="connected"},set(t,i){var r,n;let{media:e}=i;if(e&&!(t&&((r=e.remote)==null?void 0:r.state)!=="disconnected")&&!(!t&&((n=e.remote)==null?void 0:n.state)!=="connected")){if(typeof e.remote.prompt!="function"){console.warn("MediaChrome: Casting is not supported in this environment");return}e.remote.prompt().catch(()=>{})}},remoteEvents:["connect","connecting","disconnect"]},mediaIsAirplaying:{get(){return!1},set(t,i){let{media:e}=i;if(e){if(!(e.webkitShowPlaybackTargetPicker&&u.WebKitPlaybackTargetAvailabilityEvent)){console.error("MediaChrome: received a request to select AirPlay but AirPlay is not supported in this environment");return}e.webkitShowPlaybackTargetPicker()}},mediaEvents:["webkitcurrentplaybacktargetiswirelesschanged"]},mediaFullscreenUnavailable:{get(t){let{media:i}=t;if(!Bl||!Vs(i))return Q.UNSUPPORTED}},mediaPipUnavailable:{get(t){let{media:i}=t;if(!$l||!$s(i))return Q.UNSUPPORTED;if(i!=null&&i.disablePictureInPicture)return Q.UNAVAILABLE}},mediaVolumeUnavailable:{get(t){let{media:i}=t;if(Ro===!1||(i==null?void 0:i.volume)==null)return Q.UNSUPPORTED},stateOwnersUpdateHandlers:[t=>{Ro==null&&Rc.then(i=>t(i?void 0:Q.UNSUPPORTED))}]},mediaCastUnavailable:{get(t,{availability:i="not-available"}={}){var r;let{media:e}=t;if(!Kl||!((r=e==null?void 0:e.remote)!=null&&r.state))return Q.UNSUPPORTED;if(!(i==null||i==="available"))return Q.UNAVAILABLE},stateOwnersUpdateHandlers:[(t,i)=>{var n;let{media:e}=i;return e?(e.disableRemotePlayback||e.hasAttribute("disableremoteplayback")||(n=e==null?void 0:e.remote)==null||n.watchAvailability(o=>{t({availability:o?"available":"not-available"})}).catch(o=>{o.name==="NotSupportedError"?t({availability:null}):t({availability:"not-available"})}),()=>{var o;(o=e==null?void 0:e.remote)==null||o.cancelWatchAvailability().catch(()=>{})}):void 0}]},mediaAirplayUnavailable:{get(t,i){if(!Vl)return Q.UNSUPPORTED;if((i==null?void 0:i.availability)==="not-available")return Q.UNAVAILABLE},mediaEvents:["webkitplaybacktargetavailabilitychanged"],stateOwnersUpdateHandlers:[(t,i)=>{var n;let{media:e}=i;return e?(e.disableRemotePlayback||e.hasAttribute("disableremoteplayback")||(n=e==null?void 0:e.remote)==null||n.watchAvailability(o=>{t({availability:o?"available":"not-available"})}).catch(o=>{o.name==="NotSupportedError"?t({availability:null}):t({availability:"not-available"})}),()=>{var o;(o=e==null?void 0:e.remote)==null||o.cancelWatchAvailability().catch(()=>{})}):void 0}]},mediaRenditionUnavailable:{get(t){var e;let{media:i}=t;if(!(i!=null&&i.videoRenditions))return Q.UNSUPPORTED;if(!((e=i.videoRenditions)!=null&&e.length))return Q.UNAVAILABLE},mediaEvents:["emptied","loadstart"],videoRenditionsEvents:["addrendition","removerendition"]},mediaAudioTrackUnavailable:{get(t){var e,r;let{media:i}=t;if(!(i!=null&&i.audioTracks))return Q.UNSUPPORTED;if(((r=(e=i.audioTracks)==null?void 0:e.length)!=null?r:0)<=1)return Q.UNAVAILABLE},mediaEvents:["emptied","loadstart"],audioTracksEvents:["addtrack","removetrack"]},mediaLang:{get(t){let{options:{mediaLang:i}={}}=t;return i!=null?i:"en"}}};var ql={[b.MEDIA_PREVIEW_REQUEST](t,i,{detail:e}){var v,y,T;let{media:r}=i,n=e!=null?e:void 0,o,l;if(r&&n!=null){let[A]=St(r,{kind:j.METADATA,label:"thumbnails"}),D=Array.prototype.find.call((v=A==null?void 0:A.cues)!=null?v:[],(L,R,P)=>R===0?L.endTime>n:R===P.length-1?L.startTime<=n:L.startTime<=n&&L.endTime>n);if(D){let L=/'^(?:[a-z]+:)?\/\//i.test(D.text)||(y=r==null?void 0:r.querySelector('track[label="thumbnails"]'))==null?void 0:y.src,R=new URL(D.text,L);l=new URLSearchParams(R.hash).get("#xywh").split(",").map(H=>+H),o=R.href}}let d=t.mediaDuration.get(i),E=(T=t.mediaChaptersCues.get(i).find((A,D,L)=>D===L.length-1&&d===A.endTime?A.startTime<=n&&A.endTime>=n:A.startTime<=n&&A.endTime>n))==null?void 0:T.text;return e!=null&&E==null&&(E=""),{mediaPreviewTime:n,mediaPreviewImage:o,mediaPreviewCoords:l,mediaPreviewChapter:E}},[b.MEDIA_PAUSE_REQUEST](t,i){t["mediaPaused"].set(!0,i)},[b.MEDIA_PLAY_REQUEST](t,i){var d,m,E,v;let e="mediaPaused",n=t.mediaStreamType.get(i)===J.LIVE,o=!((d=i.options)!=null&&d.noAutoSeekToLive),l=t.mediaTargetLiveWindow.get(i)>0;if(n&&o&&!l){let y=(m=t.mediaSeekable.get(i))==null?void 0:m[1];if(y){let T=(v=(E=i.options)==null?void 0:E.seekToLiveOffset)!=null?v:0,A=y-T;t.mediaCurrentTime.set(A,i)}}t[e].set(!1,i)},[b.MEDIA_PLAYBACK_RATE_REQUEST](t,i,{detail:e}){let r="mediaPlaybackRate",n=e;t[r].set(n,i)},[b.MEDIA_MUTE_REQUEST](t,i){t["mediaMuted"].set(!0,i)},[b.MEDIA_UNMUTE_REQUEST](t,i){let e="mediaMuted";t.mediaVolume.get(i)||t.mediaVolume.set(.25,i),t[e].set(!1,i)},[b.MEDIA_LOOP_REQUEST](t,i,{detail:e}){let r="mediaLoop",n=!!e;return t[r].set(n,i),{mediaLoop:n}},[b.MEDIA_VOLUME_REQUEST](t,i,{detail:e}){let r="mediaVolume",n=e;n&&t.mediaMuted.get(i)&&t.mediaMuted.set(!1,i),t[r].set(n,i)},[b.MEDIA_SEEK_REQUEST](t,i,{detail:e}){let r="mediaCurrentTime",n=e;t[r].set(n,i)},[b.MEDIA_SEEK_TO_LIVE_REQUEST](t,i){var l,d,m;let e="mediaCurrentTime",r=(l=t.mediaSeekable.get(i))==null?void 0:l[1];if(Number.isNaN(Number(r)))return;let n=(m=(d=i.options)==null?void 0:d.seekToLiveOffset)!=null?m:0,o=r-n;t[e].set(o,i)},[b.MEDIA_SHOW_SUBTITLES_REQUEST](t,i,{detail:e}){var d;let{options:r}=i,n=di(i),o=Fs(e),l=(d=o[0])==null?void 0:d.language;l&&!r.noSubtitlesLangPref&&u.localStorage.setItem("media-chrome-pref-subtitles-lang",l),yt(Oe.SHOWING,n,o)},[b.MEDIA_DISABLE_SUBTITLES_REQUEST](t,i,{detail:e}){let r=di(i),n=e!=null?e:[];yt(Oe.DISABLED,r,n)},[b.MEDIA_TOGGLE_SUBTITLES_REQUEST](t,i,{detail:e}){ko(i,e)},[b.MEDIA_RENDITION_REQUEST](t,i,{detail:e}){let r="mediaRenditionSelected",n=e;t[r].set(n,i)},[b.MEDIA_AUDIO_TRACK_REQUEST](t,i,{detail:e}){let r="mediaAudioTrackEnabled",n=e;t[r].set(n,i)},[b.MEDIA_ENTER_PIP_REQUEST](t,i){let e="mediaIsPip";t.mediaIsFullscreen.get(i)&&t.mediaIsFullscreen.set(!1,i),t[e].set(!0,i)},[b.MEDIA_EXIT_PIP_REQUEST](t,i){t["mediaIsPip"].set(!1,i)},[b.MEDIA_ENTER_FULLSCREEN_REQUEST](t,i,e){let r="mediaIsFullscreen";t.mediaIsPip.get(i)&&t.mediaIsPip.set(!1,i),t[r].set(!0,i,e)},[b.MEDIA_EXIT_FULLSCREEN_REQUEST](t,i){t["mediaIsFullscreen"].set(!1,i)},[b.MEDIA_ENTER_CAST_REQUEST](t,i){let e="mediaIsCasting";t.mediaIsFullscreen.get(i)&&t.mediaIsFullscreen.set(!1,i),t[e].set(!0,i)},[b.MEDIA_EXIT_CAST_REQUEST](t,i){t["mediaIsCasting"].set(!1,i)},[b.MEDIA_AIRPLAY_REQUEST](t,i){t["mediaIsAirplaying"].set(!0,i)}};var Wl=({media:t,fullscreenElement:i,documentElement:e,stateMediator:r=ui,requestMap:n=ql,options:o={},monitorStateOwnersOnlyWithSubscriptions:l=!0})=>{let d=[],m={options:{...o}},E=Object.freeze({mediaPreviewTime:void 0,mediaPreviewImage:void 0,mediaPreviewCoords:void 0,mediaPreviewChapter:void 0}),v=L=>{L!=null&&(_o(L,E)||(E=Object.freeze({...E,...L}),d.forEach(R=>R(E))))},y=()=>{let L=Object.entries(r).reduce((R,[P,{get:H}])=>(R[P]=H(m),R),{});v(L)},T={},A,D=async(L,R)=>{var Na,Fa,Ba,$a,Va,Ka,Ga,qa,Wa,Ya,ja,Qa,za,Za,Xa,Ja;let P=!!A;if(A={...m,...A!=null?A:{},...L},P)return;await Gl(...Object.values(L));let H=d.length>0&&R===0&&l,ae=m.media!==A.media,_s=((Na=m.media)==null?void 0:Na.textTracks)!==((Fa=A.media)==null?void 0:Fa.textTracks),lr=((Ba=m.media)==null?void 0:Ba.videoRenditions)!==(($a=A.media)==null?void 0:$a.videoRenditions),ti=((Va=m.media)==null?void 0:Va.audioTracks)!==((Ka=A.media)==null?void 0:Ka.audioTracks),De=((Ga=m.media)==null?void 0:Ga.remote)!==((qa=A.media)==null?void 0:qa.remote),we=m.documentElement!==A.documentElement,dr=!!m.media&&(ae||H),ut=!!((Wa=m.media)!=null&&Wa.textTracks)&&(_s||H),ka=!!((Ya=m.media)!=null&&Ya.videoRenditions)&&(lr||H),_a=!!((ja=m.media)!=null&&ja.audioTracks)&&(ti||H),Ra=!!((Qa=m.media)!=null&&Qa.remote)&&(De||H),xa=!!m.documentElement&&(we||H),Rs=dr||ut||ka||_a||Ra||xa,ii=d.length===0&&R===1&&l,Ca=!!A.media&&(ae||ii),Da=!!((za=A.media)!=null&&za.textTracks)&&(_s||ii),wa=!!((Za=A.media)!=null&&Za.videoRenditions)&&(lr||ii),Oa=!!((Xa=A.media)!=null&&Xa.audioTracks)&&(ti||ii),Pa=!!((Ja=A.media)!=null&&Ja.remote)&&(De||ii),Ua=!!A.documentElement&&(we||ii),Ha=Ca||Da||wa||Oa||Pa||Ua;if(!(Rs||Ha)){Object.entries(A).forEach(([N,ur])=>{m[N]=ur}),y(),A=void 0;return}Object.entries(r).forEach(([N,{get:ur,mediaEvents:Uu=[],textTracksEvents:Hu=[],videoRenditionsEvents:Nu=[],audioTracksEvents:Fu=[],remoteEvents:Bu=[],rootEvents:$u=[],stateOwnersUpdateHandlers:Vu=[]}])=>{T[N]||(T[N]={});let ie=K=>{let q=ur(m,K);v({[N]:q})},W;W=T[N].mediaEvents,Uu.forEach(K=>{W&&dr&&(m.media.removeEventListener(K,W),T[N].mediaEvents=void 0),Ca&&(A.media.addEventListener(K,ie),T[N].mediaEvents=ie)}),W=T[N].textTracksEvents,Hu.forEach(K=>{var q,le;W&&ut&&((q=m.media.textTracks)==null||q.removeEventListener(K,W),T[N].textTracksEvents=void 0),Da&&((le=A.media.textTracks)==null||le.addEventListener(K,ie),T[N].textTracksEvents=ie)}),W=T[N].videoRenditionsEvents,Nu.forEach(K=>{var q,le;W&&ka&&((q=m.media.videoRenditions)==null||q.removeEventListener(K,W),T[N].videoRenditionsEvents=void 0),wa&&((le=A.media.videoRenditions)==null||le.addEventListener(K,ie),T[N].videoRenditionsEvents=ie)}),W=T[N].audioTracksEvents,Fu.forEach(K=>{var q,le;W&&_a&&((q=m.media.audioTracks)==null||q.removeEventListener(K,W),T[N].audioTracksEvents=void 0),Oa&&((le=A.media.audioTracks)==null||le.addEventListener(K,ie),T[N].audioTracksEvents=ie)}),W=T[N].remoteEvents,Bu.forEach(K=>{var q,le;W&&Ra&&((q=m.media.remote)==null||q.removeEventListener(K,W),T[N].remoteEvents=void 0),Pa&&((le=A.media.remote)==null||le.addEventListener(K,ie),T[N].remoteEvents=ie)}),W=T[N].rootEvents,$u.forEach(K=>{W&&xa&&(m.documentElement.removeEventListener(K,W),T[N].rootEvents=void 0),Ua&&(A.documentElement.addEventListener(K,ie),T[N].rootEvents=ie)});let Jn=T[N].stateOwnersUpdateHandlers;if(Jn&&Rs&&(Array.isArray(Jn)?Jn:[Jn]).forEach(q=>{typeof q=="function"&&q()}),Ha){let K=Vu.map(q=>q(ie,A)).filter(q=>typeof q=="function");T[N].stateOwnersUpdateHandlers=K.length===1?K[0]:K}else Rs&&(T[N].stateOwnersUpdateHandlers=void 0)}),Object.entries(A).forEach(([N,ur])=>{m[N]=ur}),y(),A=void 0};return D({media:t,fullscreenElement:i,documentElement:e,options:o}),{dispatch(L){let{type:R,detail:P}=L;if(n[R]&&E.mediaErrorCode==null){v(n[R](r,m,L));return}R==="mediaelementchangerequest"?D({media:P}):R==="fullscreenelementchangerequest"?D({fullscreenElement:P}):R==="documentelementchangerequest"?D({documentElement:P}):R==="optionschangerequest"&&(Object.entries(P!=null?P:{}).forEach(([H,ae])=>{m.options[H]=ae}),y())},getState(){return E},subscribe(L){return D({},d.length+1),d.push(L),L(E),()=>{let R=d.indexOf(L);R>=0&&(D({},d.length-1),d.splice(R,1))}}}};var Yl=["ArrowLeft","ArrowRight","ArrowUp","ArrowDown","Enter"," ","f","m","k","c","l","j",">","<","p"],jl=10,Ql=.025,zl=.25,Dc=.25,wc=2,f={DEFAULT_SUBTITLES:"defaultsubtitles",DEFAULT_STREAM_TYPE:"defaultstreamtype",DEFAULT_DURATION:"defaultduration",FULLSCREEN_ELEMENT:"fullscreenelement",HOTKEYS:"hotkeys",KEYBOARD_BACKWARD_SEEK_OFFSET:"keyboardbackwardseekoffset",KEYBOARD_FORWARD_SEEK_OFFSET:"keyboardforwardseekoffset",KEYBOARD_DOWN_VOLUME_STEP:"keyboarddownvolumestep",KEYBOARD_UP_VOLUME_STEP:"keyboardupvolumestep",KEYS_USED:"keysused",LANG:"lang",LOOP:"loop",LIVE_EDGE_OFFSET:"liveedgeoffset",NO_AUTO_SEEK_TO_LIVE:"noautoseektolive",NO_DEFAULT_STORE:"nodefaultstore",NO_HOTKEYS:"nohotkeys",NO_MUTED_PREF:"nomutedpref",NO_SUBTITLES_LANG_PREF:"nosubtitleslangpref",NO_VOLUME_PREF:"novolumepref",SEEK_TO_LIVE_OFFSET:"seektoliveoffset"},ke,ci,O,ee,mi,ce,Rr,hi,xr,qs,Je,Cr,Ws,pi,xo,Do,Jl,Co=class extends je{constructor(){super();c(this,xr);c(this,Cr);c(this,pi);c(this,Do);this.mediaStateReceivers=[];this.associatedElementSubscriptions=new Map;c(this,ke,new Xe(this,f.HOTKEYS));c(this,ci,void 0);c(this,O,void 0);c(this,ee,null);c(this,mi,void 0);c(this,ce,void 0);c(this,Rr,e=>{var r;(r=s(this,O))==null||r.dispatch(e)});c(this,hi,void 0);c(this,Je,e=>{let{key:r,shiftKey:n}=e;if(!(n&&(r==="/"||r==="?")||Yl.includes(r))){this.removeEventListener("keyup",s(this,Je));return}this.keyboardShortcutHandler(e)});this.associateElement(this);let e={};h(this,mi,r=>{Object.entries(r).forEach(([n,o])=>{if(n in e&&e[n]===o)return;this.propagateMediaState(n,o);let l=n.toLowerCase(),d=new u.CustomEvent(ws[l],{composed:!0,detail:o});this.dispatchEvent(d)}),e=r})}static get observedAttributes(){return super.observedAttributes.concat(f.NO_HOTKEYS,f.HOTKEYS,f.DEFAULT_STREAM_TYPE,f.DEFAULT_SUBTITLES,f.DEFAULT_DURATION,f.NO_MUTED_PREF,f.NO_VOLUME_PREF,f.LANG,f.LOOP,f.LIVE_EDGE_OFFSET,f.SEEK_TO_LIVE_OFFSET,f.NO_AUTO_SEEK_TO_LIVE)}get mediaStore(){return s(this,O)}set mediaStore(e){var r,n;if(s(this,O)&&((r=s(this,ce))==null||r.call(this),h(this,ce,void 0)),h(this,O,e),!s(this,O)&&!this.hasAttribute(f.NO_DEFAULT_STORE)){p(this,xr,qs).call(this);return}h(this,ce,(n=s(this,O))==null?void 0:n.subscribe(s(this,mi)))}get fullscreenElement(){var e;return(e=s(this,ci))!=null?e:this}set fullscreenElement(e){var r;this.hasAttribute(f.FULLSCREEN_ELEMENT)&&this.removeAttribute(f.FULLSCREEN_ELEMENT),h(this,ci,e),(r=s(this,O))==null||r.dispatch({type:"fullscreenelementchangerequest",detail:this.fullscreenElement})}get defaultSubtitles(){return S(this,f.DEFAULT_SUBTITLES)}set defaultSubtitles(e){M(this,f.DEFAULT_SUBTITLES,e)}get defaultStreamType(){return _(this,f.DEFAULT_STREAM_TYPE)}set defaultStreamType(e){k(this,f.DEFAULT_STREAM_TYPE,e)}get defaultDuration(){return C(this,f.DEFAULT_DURATION)}set defaultDuration(e){w(this,f.DEFAULT_DURATION,e)}get noHotkeys(){return S(this,f.NO_HOTKEYS)}set noHotkeys(e){M(this,f.NO_HOTKEYS,e)}get keysUsed(){return _(this,f.KEYS_USED)}set keysUsed(e){k(this,f.KEYS_USED,e)}get liveEdgeOffset(){return C(this,f.LIVE_EDGE_OFFSET)}set liveEdgeOffset(e){w(this,f.LIVE_EDGE_OFFSET,e)}get noAutoSeekToLive(){return S(this,f.NO_AUTO_SEEK_TO_LIVE)}set noAutoSeekToLive(e){M(this,f.NO_AUTO_SEEK_TO_LIVE,e)}get noVolumePref(){return S(this,f.NO_VOLUME_PREF)}set noVolumePref(e){M(this,f.NO_VOLUME_PREF,e)}get noMutedPref(){return S(this,f.NO_MUTED_PREF)}set noMutedPref(e){M(this,f.NO_MUTED_PREF,e)}get noSubtitlesLangPref(){return S(this,f.NO_SUBTITLES_LANG_PREF)}set noSubtitlesLangPref(e){M(this,f.NO_SUBTITLES_LANG_PREF,e)}get noDefaultStore(){return S(this,f.NO_DEFAULT_STORE)}set noDefaultStore(e){M(this,f.NO_DEFAULT_STORE,e)}get resolvedLang(){return ul()}attributeChangedCallback(e,r,n){var o,l,d,m,E,v,y,T,A,D,L,R;if(super.attributeChangedCallback(e,r,n),e===f.NO_HOTKEYS)n!==r&&n===""?(this.hasAttribute(f.HOTKEYS)&&console.warn("Media Chrome: Both `hotkeys` and `nohotkeys` have been set. All hotkeys will be disabled."),this.disableHotkeys()):n!==r&&n===null&&this.enableHotkeys(),p(this,pi,xo).call(this);else if(e===f.HOTKEYS)s(this,ke).value=n,p(this,pi,xo).call(this);else if(e===f.DEFAULT_SUBTITLES&&n!==r)(o=s(this,O))==null||o.dispatch({type:"optionschangerequest",detail:{defaultSubtitles:this.hasAttribute(f.DEFAULT_SUBTITLES)}});else if(e===f.DEFAULT_STREAM_TYPE)(d=s(this,O))==null||d.dispatch({type:"optionschangerequest",detail:{defaultStreamType:(l=this.getAttribute(f.DEFAULT_STREAM_TYPE))!=null?l:void 0}});else if(e===f.LIVE_EDGE_OFFSET&&n!==r)(m=s(this,O))==null||m.dispatch({type:"optionschangerequest",detail:{liveEdgeOffset:this.hasAttribute(f.LIVE_EDGE_OFFSET)?+this.getAttribute(f.LIVE_EDGE_OFFSET):void 0,seekToLiveOffset:this.hasAttribute(f.SEEK_TO_LIVE_OFFSET)?+this.getAttribute(f.SEEK_TO_LIVE_OFFSET):this.hasAttribute(f.LIVE_EDGE_OFFSET)?+this.getAttribute(f.LIVE_EDGE_OFFSET):void 0}});else if(e===f.SEEK_TO_LIVE_OFFSET&&n!==r)(E=s(this,O))==null||E.dispatch({type:"optionschangerequest",detail:{seekToLiveOffset:this.hasAttribute(f.SEEK_TO_LIVE_OFFSET)?+this.getAttribute(f.SEEK_TO_LIVE_OFFSET):this.hasAttribute(f.LIVE_EDGE_OFFSET)?+this.getAttribute(f.LIVE_EDGE_OFFSET):void 0}});else if(e===f.NO_AUTO_SEEK_TO_LIVE)(v=s(this,O))==null||v.dispatch({type:"optionschangerequest",detail:{noAutoSeekToLive:this.hasAttribute(f.NO_AUTO_SEEK_TO_LIVE)}});else if(e===f.FULLSCREEN_ELEMENT){let P=n?(y=this.getRootNode())==null?void 0:y.getElementById(n):void 0;h(this,ci,P),(T=s(this,O))==null||T.dispatch({type:"fullscreenelementchangerequest",detail:this.fullscreenElement})}else e===f.LANG&&n!==r?(dl(n),(A=s(this,O))==null||A.dispatch({type:"optionschangerequest",detail:{mediaLang:n}})):e===f.LOOP&&n!==r?(D=s(this,O))==null||D.dispatch({type:b.MEDIA_LOOP_REQUEST,detail:n!=null}):e===f.NO_VOLUME_PREF&&n!==r?(L=s(this,O))==null||L.dispatch({type:"optionschangerequest",detail:{noVolumePref:this.hasAttribute(f.NO_VOLUME_PREF)}}):e===f.NO_MUTED_PREF&&n!==r&&((R=s(this,O))==null||R.dispatch({type:"optionschangerequest",detail:{noMutedPref:this.hasAttribute(f.NO_MUTED_PREF)}}))}connectedCallback(){var e,r,n;this.associateElement(this),!s(this,O)&&!this.hasAttribute(f.NO_DEFAULT_STORE)&&p(this,xr,qs).call(this),(e=s(this,O))==null||e.dispatch({type:"documentelementchangerequest",detail:F}),(r=s(this,O))==null||r.dispatch({type:"fullscreenelementchangerequest",detail:this.fullscreenElement}),super.connectedCallback(),s(this,O)&&!s(this,ce)&&h(this,ce,(n=s(this,O))==null?void 0:n.subscribe(s(this,mi))),s(this,hi)!==void 0&&s(this,O)&&this.media&&setTimeout(()=>{var o,l,d;(l=(o=this.media)==null?void 0:o.textTracks)!=null&&l.length&&((d=s(this,O))==null||d.dispatch({type:b.MEDIA_TOGGLE_SUBTITLES_REQUEST,detail:s(this,hi)}))},0),this.hasAttribute(f.NO_HOTKEYS)?this.disableHotkeys():this.enableHotkeys()}disconnectedCallback(){var e,r,n,o,l,d;if((e=super.disconnectedCallback)==null||e.call(this),this.disableHotkeys(),s(this,O)){let m=s(this,O).getState();h(this,hi,!!((r=m.mediaSubtitlesShowing)!=null&&r.length)),(n=s(this,O))==null||n.dispatch({type:"fullscreenelementchangerequest",detail:void 0}),(o=s(this,O))==null||o.dispatch({type:"documentelementchangerequest",detail:void 0}),(l=s(this,O))==null||l.dispatch({type:b.MEDIA_TOGGLE_SUBTITLES_REQUEST,detail:!1})}s(this,ce)&&((d=s(this,ce))==null||d.call(this),h(this,ce,void 0)),this.unassociateElement(this),s(this,ee)&&(s(this,ee).remove(),h(this,ee,null))}mediaSetCallback(e){var r;super.mediaSetCallback(e),(r=s(this,O))==null||r.dispatch({type:"mediaelementchangerequest",detail:e}),e.hasAttribute("tabindex")||(e.tabIndex=-1)}mediaUnsetCallback(e){var r;super.mediaUnsetCallback(e),(r=s(this,O))==null||r.dispatch({type:"mediaelementchangerequest",detail:void 0})}propagateMediaState(e,r){Xl(this.mediaStateReceivers,e,r)}associateElement(e){if(!e)return;let{associatedElementSubscriptions:r}=this;if(r.has(e))return;let n=this.registerMediaStateReceiver.bind(this),o=this.unregisterMediaStateReceiver.bind(this),l=Fc(e,n,o);Object.values(b).forEach(d=>{e.addEventListener(d,s(this,Rr))}),r.set(e,l)}unassociateElement(e){if(!e)return;let{associatedElementSubscriptions:r}=this;if(!r.has(e))return;r.get(e)(),r.delete(e),Object.values(b).forEach(o=>{e.removeEventListener(o,s(this,Rr))})}registerMediaStateReceiver(e){if(!e)return;let r=this.mediaStateReceivers;r.indexOf(e)>-1||(r.push(e),s(this,O)&&Object.entries(s(this,O).getState()).forEach(([o,l])=>{Xl([e],o,l)}))}unregisterMediaStateReceiver(e){let r=this.mediaStateReceivers,n=r.indexOf(e);n<0||r.splice(n,1)}enableHotkeys(){this.addEventListener("keydown",p(this,Cr,Ws))}disableHotkeys(){this.removeEventListener("keydown",p(this,Cr,Ws)),this.removeEventListener("keyup",s(this,Je))}get hotkeys(){return s(this,ke)}set hotkeys(e){k(this,f.HOTKEYS,e)}keyboardShortcutHandler(e){var E,v,y,T,A,D,L,R,P;let r=e.target;if(((y=(v=(E=r.getAttribute(f.KEYS_USED))==null?void 0:E.split(" "))!=null?v:r==null?void 0:r.keysUsed)!=null?y:[]).map(H=>H==="Space"?" ":H).filter(Boolean).includes(e.key))return;let o,l,d;if(!(s(this,ke).contains(So(e.key))||e.shiftKey&&(e.key==="/"||e.key==="?")&&s(this,ke).contains("noshift+/")))switch(e.key){case" ":case"k":o=s(this,O).getState().mediaPaused?b.MEDIA_PLAY_REQUEST:b.MEDIA_PAUSE_REQUEST,this.dispatchEvent(new u.CustomEvent(o,{composed:!0,bubbles:!0}));break;case"m":o=this.mediaStore.getState().mediaVolumeLevel==="off"?b.MEDIA_UNMUTE_REQUEST:b.MEDIA_MUTE_REQUEST,this.dispatchEvent(new u.CustomEvent(o,{composed:!0,bubbles:!0}));break;case"f":o=this.mediaStore.getState().mediaIsFullscreen?b.MEDIA_EXIT_FULLSCREEN_REQUEST:b.MEDIA_ENTER_FULLSCREEN_REQUEST,this.dispatchEvent(new u.CustomEvent(o,{composed:!0,bubbles:!0}));break;case"c":this.dispatchEvent(new u.CustomEvent(b.MEDIA_TOGGLE_SUBTITLES_REQUEST,{composed:!0,bubbles:!0}));break;case"ArrowLeft":case"j":{let H=this.hasAttribute(f.KEYBOARD_BACKWARD_SEEK_OFFSET)?+this.getAttribute(f.KEYBOARD_BACKWARD_SEEK_OFFSET):jl;l=Math.max(((T=this.mediaStore.getState().mediaCurrentTime)!=null?T:0)-H,0),d=new u.CustomEvent(b.MEDIA_SEEK_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case"ArrowRight":case"l":{let H=this.hasAttribute(f.KEYBOARD_FORWARD_SEEK_OFFSET)?+this.getAttribute(f.KEYBOARD_FORWARD_SEEK_OFFSET):jl;l=Math.max(((A=this.mediaStore.getState().mediaCurrentTime)!=null?A:0)+H,0),d=new u.CustomEvent(b.MEDIA_SEEK_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case"ArrowUp":{let H=this.hasAttribute(f.KEYBOARD_UP_VOLUME_STEP)?+this.getAttribute(f.KEYBOARD_UP_VOLUME_STEP):Ql;l=Math.min(((D=this.mediaStore.getState().mediaVolume)!=null?D:1)+H,1),d=new u.CustomEvent(b.MEDIA_VOLUME_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case"ArrowDown":{let H=this.hasAttribute(f.KEYBOARD_DOWN_VOLUME_STEP)?+this.getAttribute(f.KEYBOARD_DOWN_VOLUME_STEP):Ql;l=Math.max(((L=this.mediaStore.getState().mediaVolume)!=null?L:1)-H,0),d=new u.CustomEvent(b.MEDIA_VOLUME_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case"<":{let H=(R=this.mediaStore.getState().mediaPlaybackRate)!=null?R:1;l=Math.max(H-zl,Dc).toFixed(2),d=new u.CustomEvent(b.MEDIA_PLAYBACK_RATE_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case">":{let H=(P=this.mediaStore.getState().mediaPlaybackRate)!=null?P:1;l=Math.min(H+zl,wc).toFixed(2),d=new u.CustomEvent(b.MEDIA_PLAYBACK_RATE_REQUEST,{composed:!0,bubbles:!0,detail:l}),this.dispatchEvent(d);break}case"/":case"?":{e.shiftKey&&p(this,Do,Jl).call(this);break}case"p":{o=this.mediaStore.getState().mediaIsPip?b.MEDIA_EXIT_PIP_REQUEST:b.MEDIA_ENTER_PIP_REQUEST,d=new u.CustomEvent(o,{composed:!0,bubbles:!0}),this.dispatchEvent(d);break}default:break}}};ke=new WeakMap,ci=new WeakMap,O=new WeakMap,ee=new WeakMap,mi=new WeakMap,ce=new WeakMap,Rr=new WeakMap,hi=new WeakMap,xr=new WeakSet,qs=function(){var e;this.mediaStore=Wl({media:this.media,fullscreenElement:this.fullscreenElement,options:{defaultSubtitles:this.hasAttribute(f.DEFAULT_SUBTITLES),defaultDuration:this.hasAttribute(f.DEFAULT_DURATION)?+this.getAttribute(f.DEFAULT_DURATION):void 0,defaultStreamType:(e=this.getAttribute(f.DEFAULT_STREAM_TYPE))!=null?e:void 0,liveEdgeOffset:this.hasAttribute(f.LIVE_EDGE_OFFSET)?+this.getAttribute(f.LIVE_EDGE_OFFSET):void 0,seekToLiveOffset:this.hasAttribute(f.SEEK_TO_LIVE_OFFSET)?+this.getAttribute(f.SEEK_TO_LIVE_OFFSET):this.hasAttribute(f.LIVE_EDGE_OFFSET)?+this.getAttribute(f.LIVE_EDGE_OFFSET):void 0,noAutoSeekToLive:this.hasAttribute(f.NO_AUTO_SEEK_TO_LIVE),noVolumePref:this.hasAttribute(f.NO_VOLUME_PREF),noMutedPref:this.hasAttribute(f.NO_MUTED_PREF),noSubtitlesLangPref:this.hasAttribute(f.NO_SUBTITLES_LANG_PREF)}})},Je=new WeakMap,Cr=new WeakSet,Ws=function(e){var v;let{metaKey:r,altKey:n,key:o,shiftKey:l}=e,d=l&&(o==="/"||o==="?");if(d&&((v=s(this,ee))!=null&&v.open)){this.removeEventListener("keyup",s(this,Je));return}if(r||n||!d&&!Yl.includes(o)){this.removeEventListener("keyup",s(this,Je));return}let m=e.target,E=m instanceof HTMLElement&&(m.tagName.toLowerCase()==="media-volume-range"||m.tagName.toLowerCase()==="media-time-range");[" ","ArrowLeft","ArrowRight","ArrowUp","ArrowDown"].includes(o)&&!s(this,ke).contains(So(o))&&!E&&e.preventDefault(),this.addEventListener("keyup",s(this,Je),{once:!0})},pi=new WeakSet,xo=function(){s(this,ee)&&(s(this,ee).hotkeys=s(this,ke).value||void 0,(this.noHotkeys||s(this,ke).contains("noshift+/"))&&(s(this,ee).open=!1))},Do=new WeakSet,Jl=function(){s(this,ee)||(h(this,ee,F.createElement("media-keyboard-shortcuts-dialog")),p(this,pi,xo).call(this),this.appendChild(s(this,ee))),s(this,ee).open=!0};var Oc=Object.values(a),Pc=Object.values(eo),ed=t=>{var r,n,o,l;let{observedAttributes:i}=t.constructor;!i&&((r=t.nodeName)!=null&&r.includes("-"))&&(u.customElements.upgrade(t),{observedAttributes:i}=t.constructor);let e=(l=(o=(n=t==null?void 0:t.getAttribute)==null?void 0:n.call(t,x.MEDIA_CHROME_ATTRIBUTES))==null?void 0:o.split)==null?void 0:l.call(o,/\s+/);return Array.isArray(i||e)?(i||e).filter(d=>Oc.includes(d)):[]},Uc=t=>{var i,e;return(i=t.nodeName)!=null&&i.includes("-")&&u.customElements.get((e=t.nodeName)==null?void 0:e.toLowerCase())&&!(t instanceof u.customElements.get(t.nodeName.toLowerCase()))&&u.customElements.upgrade(t),Pc.some(r=>r in t)},Ys=t=>Uc(t)||!!ed(t).length,Zl=t=>{var i;return(i=t==null?void 0:t.join)==null?void 0:i.call(t,":")},Gs={[a.MEDIA_SUBTITLES_LIST]:Ne,[a.MEDIA_SUBTITLES_SHOWING]:Ne,[a.MEDIA_SEEKABLE]:Zl,[a.MEDIA_BUFFERED]:t=>t==null?void 0:t.map(Zl).join(" "),[a.MEDIA_PREVIEW_COORDS]:t=>t==null?void 0:t.join(" "),[a.MEDIA_RENDITION_LIST]:il,[a.MEDIA_AUDIO_TRACK_LIST]:nl},Hc=async(t,i,e)=>{var n,o;if(t.isConnected||await ro(0),typeof e=="boolean"||e==null)return M(t,i,e);if(typeof e=="number")return w(t,i,e);if(typeof e=="string")return k(t,i,e);if(Array.isArray(e)&&!e.length)return t.removeAttribute(i);let r=(o=(n=Gs[i])==null?void 0:n.call(Gs,e))!=null?o:e;return t.setAttribute(i,r)},Nc=t=>{var i;return!!((i=t.closest)!=null&&i.call(t,'*[slot="media"]'))},Mt=(t,i)=>{if(Nc(t))return;let e=(n,o)=>{var E,v;Ys(n)&&o(n);let{children:l=[]}=n!=null?n:{},d=(v=(E=n==null?void 0:n.shadowRoot)==null?void 0:E.children)!=null?v:[];[...l,...d].forEach(y=>Mt(y,o))},r=t==null?void 0:t.nodeName.toLowerCase();if(r.includes("-")&&!Ys(t)){u.customElements.whenDefined(r).then(()=>{e(t,i)});return}e(t,i)},Xl=(t,i,e)=>{t.forEach(r=>{if(i in r){r[i]=e;return}let n=ed(r),o=i.toLowerCase();n.includes(o)&&Hc(r,o,e)})},Fc=(t,i,e)=>{Mt(t,i);let r=v=>{var T;let y=(T=v==null?void 0:v.composedPath()[0])!=null?T:v.target;i(y)},n=v=>{var T;let y=(T=v==null?void 0:v.composedPath()[0])!=null?T:v.target;e(y)};t.addEventListener(b.REGISTER_MEDIA_STATE_RECEIVER,r),t.addEventListener(b.UNREGISTER_MEDIA_STATE_RECEIVER,n);let o=v=>{v.forEach(y=>{let{addedNodes:T=[],removedNodes:A=[],type:D,target:L,attributeName:R}=y;D==="childList"?(Array.prototype.forEach.call(T,P=>Mt(P,i)),Array.prototype.forEach.call(A,P=>Mt(P,e))):D==="attributes"&&R===x.MEDIA_CHROME_ATTRIBUTES&&(Ys(L)?i(L):e(L))})},l=[],d=v=>{let y=v.target;y.name!=="media"&&(l.forEach(T=>Mt(T,e)),l=[...y.assignedElements({flatten:!0})],l.forEach(T=>Mt(T,i)))};t.addEventListener("slotchange",d);let m=new MutationObserver(o);return m.observe(t,{childList:!0,attributes:!0,subtree:!0}),()=>{Mt(t,e),t.removeEventListener("slotchange",d),m.disconnect(),t.removeEventListener(b.REGISTER_MEDIA_STATE_RECEIVER,r),t.removeEventListener(b.UNREGISTER_MEDIA_STATE_RECEIVER,n)}};u.customElements.get("media-controller")||u.customElements.define("media-controller",Co);var td=Co;var Ei={PLACEMENT:"placement",BOUNDS:"bounds"};function Bc(t){return`
    <style>
      :host {
        --_tooltip-background-color: var(--media-tooltip-background-color, var(--media-secondary-color, rgba(20, 20, 30, .7)));
        --_tooltip-background: var(--media-tooltip-background, var(--_tooltip-background-color));
        --_tooltip-arrow-half-width: calc(var(--media-tooltip-arrow-width, 12px) / 2);
        --_tooltip-arrow-height: var(--media-tooltip-arrow-height, 5px);
        --_tooltip-arrow-background: var(--media-tooltip-arrow-color, var(--_tooltip-background-color));
        position: relative;
        pointer-events: none;
        display: var(--media-tooltip-display, inline-flex);
        justify-content: center;
        align-items: center;
        box-sizing: border-box;
        z-index: var(--media-tooltip-z-index, 1);
        background: var(--_tooltip-background);
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        font: var(--media-font,
          var(--media-font-weight, 400)
          var(--media-font-size, 13px) /
          var(--media-text-content-height, var(--media-control-height, 18px))
          var(--media-font-family, helvetica neue, segoe ui, roboto, arial, sans-serif));
        padding: var(--media-tooltip-padding, .35em .7em);
        border: var(--media-tooltip-border, none);
        border-radius: var(--media-tooltip-border-radius, 5px);
        filter: var(--media-tooltip-filter, drop-shadow(0 0 4px rgba(0, 0, 0, .2)));
        white-space: var(--media-tooltip-white-space, nowrap);
      }

      :host([hidden]) {
        display: none;
      }

      img, svg {
        display: inline-block;
      }

      #arrow {
        position: absolute;
        width: 0px;
        height: 0px;
        border-style: solid;
        display: var(--media-tooltip-arrow-display, block);
      }

      :host(:not([placement])),
      :host([placement="top"]) {
        position: absolute;
        bottom: calc(100% + var(--media-tooltip-distance, 12px));
        left: 50%;
        transform: translate(calc(-50% - var(--media-tooltip-offset-x, 0px)), 0);
      }
      :host(:not([placement])) #arrow,
      :host([placement="top"]) #arrow {
        top: 100%;
        left: 50%;
        border-width: var(--_tooltip-arrow-height) var(--_tooltip-arrow-half-width) 0 var(--_tooltip-arrow-half-width);
        border-color: var(--_tooltip-arrow-background) transparent transparent transparent;
        transform: translate(calc(-50% + var(--media-tooltip-offset-x, 0px)), 0);
      }

      :host([placement="right"]) {
        position: absolute;
        left: calc(100% + var(--media-tooltip-distance, 12px));
        top: 50%;
        transform: translate(0, -50%);
      }
      :host([placement="right"]) #arrow {
        top: 50%;
        right: 100%;
        border-width: var(--_tooltip-arrow-half-width) var(--_tooltip-arrow-height) var(--_tooltip-arrow-half-width) 0;
        border-color: transparent var(--_tooltip-arrow-background) transparent transparent;
        transform: translate(0, -50%);
      }

      :host([placement="bottom"]) {
        position: absolute;
        top: calc(100% + var(--media-tooltip-distance, 12px));
        left: 50%;
        transform: translate(calc(-50% - var(--media-tooltip-offset-x, 0px)), 0);
      }
      :host([placement="bottom"]) #arrow {
        bottom: 100%;
        left: 50%;
        border-width: 0 var(--_tooltip-arrow-half-width) var(--_tooltip-arrow-height) var(--_tooltip-arrow-half-width);
        border-color: transparent transparent var(--_tooltip-arrow-background) transparent;
        transform: translate(calc(-50% + var(--media-tooltip-offset-x, 0px)), 0);
      }

      :host([placement="left"]) {
        position: absolute;
        right: calc(100% + var(--media-tooltip-distance, 12px));
        top: 50%;
        transform: translate(0, -50%);
      }
      :host([placement="left"]) #arrow {
        top: 50%;
        left: 100%;
        border-width: var(--_tooltip-arrow-half-width) 0 var(--_tooltip-arrow-half-width) var(--_tooltip-arrow-height);
        border-color: transparent transparent transparent var(--_tooltip-arrow-background);
        transform: translate(0, -50%);
      }
      
      :host([placement="none"]) #arrow {
        display: none;
      }
    </style>
    <slot></slot>
    <div id="arrow"></div>
  `}var gi=class extends u.HTMLElement{constructor(){super();this.updateXOffset=()=>{var P;if(!ho(this,{checkOpacity:!1,checkVisibilityCSS:!1}))return;let e=this.placement;if(e==="left"||e==="right"){this.style.removeProperty("--media-tooltip-offset-x");return}let r=getComputedStyle(this),n=(P=Ie(this,"#"+this.bounds))!=null?P:B(this);if(!n)return;let{x:o,width:l}=n.getBoundingClientRect(),{x:d,width:m}=this.getBoundingClientRect(),E=d+m,v=o+l,y=r.getPropertyValue("--media-tooltip-offset-x"),T=y?parseFloat(y.replace("px","")):0,A=r.getPropertyValue("--media-tooltip-container-margin"),D=A?parseFloat(A.replace("px","")):0,L=d-o+T-D,R=E-v+T+D;if(L<0){this.style.setProperty("--media-tooltip-offset-x",`${L}px`);return}if(R>0){this.style.setProperty("--media-tooltip-offset-x",`${R}px`);return}this.style.removeProperty("--media-tooltip-offset-x")};if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}if(this.arrowEl=this.shadowRoot.querySelector("#arrow"),Object.prototype.hasOwnProperty.call(this,"placement")){let e=this.placement;delete this.placement,this.placement=e}}static get observedAttributes(){return[Ei.PLACEMENT,Ei.BOUNDS]}get placement(){return _(this,Ei.PLACEMENT)}set placement(e){k(this,Ei.PLACEMENT,e)}get bounds(){return _(this,Ei.BOUNDS)}set bounds(e){k(this,Ei.BOUNDS,e)}};gi.shadowRootOptions={mode:"open"},gi.getTemplateHTML=Bc;u.customElements.get("media-tooltip")||u.customElements.define("media-tooltip",gi);var Dr=gi;var et={TOOLTIP_PLACEMENT:"tooltipplacement",DISABLED:"disabled",NO_TOOLTIP:"notooltip"};function $c(t,i={}){return`
    <style>
      :host {
        position: relative;
        font: var(--media-font,
          var(--media-font-weight, bold)
          var(--media-font-size, 14px) /
          var(--media-text-content-height, var(--media-control-height, 24px))
          var(--media-font-family, helvetica neue, segoe ui, roboto, arial, sans-serif));
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        background: var(--media-control-background, var(--media-secondary-color, rgb(20 20 30 / .7)));
        padding: var(--media-button-padding, var(--media-control-padding, 10px));
        justify-content: var(--media-button-justify-content, center);
        display: inline-flex;
        align-items: center;
        vertical-align: middle;
        box-sizing: border-box;
        transition: background .15s linear;
        pointer-events: auto;
        cursor: var(--media-cursor, pointer);
        -webkit-tap-highlight-color: transparent;
      }

      
      :host(:focus-visible) {
        box-shadow: var(--media-focus-box-shadow, inset 0 0 0 2px rgb(27 127 204 / .9));
        outline: 0;
      }
      
      :host(:where(:focus)) {
        box-shadow: none;
        outline: 0;
      }

      :host(:hover) {
        background: var(--media-control-hover-background, rgba(50 50 70 / .7));
      }

      slot[name="icon"] {
        display: inline-flex;
        align-items: center;
      }

      svg, img, ::slotted(svg), ::slotted(img) {
        width: var(--media-button-icon-width);
        height: var(--media-button-icon-height, var(--media-control-height, 24px));
        transform: var(--media-button-icon-transform);
        transition: var(--media-button-icon-transition);
        fill: var(--media-icon-color, var(--media-primary-color, rgb(238 238 238)));
        vertical-align: middle;
        max-width: 100%;
        max-height: 100%;
        min-width: 100%;
      }

      media-tooltip {
        
        max-width: 0;
        overflow-x: clip;
        opacity: 0;
        transition: opacity .3s, max-width 0s 9s;
      }

      :host(:hover) media-tooltip,
      :host(:focus-visible) media-tooltip {
        max-width: 100vw;
        opacity: 1;
        transition: opacity .3s;
      }

      :host([notooltip]) slot[name="tooltip"] {
        display: none;
      }
    </style>

    ${this.getSlotTemplateHTML(t,i)}

    <slot name="tooltip">
      <media-tooltip part="tooltip" aria-hidden="true">
        <template shadowrootmode="${Dr.shadowRootOptions.mode}">
          ${Dr.getTemplateHTML({})}
        </template>
        <slot name="tooltip-content">
          ${this.getTooltipContentHTML(t)}
        </slot>
      </media-tooltip>
    </slot>
  `}function Vc(t,i){return`
    <slot></slot>
  `}function Kc(){return""}var me,It,wo,id,Fe,Lt,wr,Oo,rd,U=class extends u.HTMLElement{constructor(){super();c(this,wo);c(this,Oo);c(this,me,void 0);this.preventClick=!1;this.tooltipEl=null;c(this,It,e=>{this.preventClick||this.handleClick(e),setTimeout(s(this,Fe),0)});c(this,Fe,()=>{var e,r;(r=(e=this.tooltipEl)==null?void 0:e.updateXOffset)==null||r.call(e)});c(this,Lt,e=>{let{key:r}=e;if(!this.keysUsed.includes(r)){this.removeEventListener("keyup",s(this,Lt));return}this.preventClick||this.handleClick(e)});c(this,wr,e=>{let{metaKey:r,altKey:n,key:o}=e;if(r||n||!this.keysUsed.includes(o)){this.removeEventListener("keyup",s(this,Lt));return}this.addEventListener("keyup",s(this,Lt),{once:!0})});if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes),r=this.constructor.getTemplateHTML(e);this.shadowRoot.setHTMLUnsafe?this.shadowRoot.setHTMLUnsafe(r):this.shadowRoot.innerHTML=r}this.tooltipEl=this.shadowRoot.querySelector("media-tooltip")}static get observedAttributes(){return["disabled",et.TOOLTIP_PLACEMENT,x.MEDIA_CONTROLLER,a.MEDIA_LANG]}enable(){this.addEventListener("click",s(this,It)),this.addEventListener("keydown",s(this,wr)),this.tabIndex=0}disable(){this.removeEventListener("click",s(this,It)),this.removeEventListener("keydown",s(this,wr)),this.removeEventListener("keyup",s(this,Lt)),this.tabIndex=-1}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===x.MEDIA_CONTROLLER?(r&&((l=(o=s(this,me))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,me,null)),n&&this.isConnected&&(h(this,me,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,me))==null?void 0:m.associateElement)==null||E.call(m,this))):e==="disabled"&&n!==r?n==null?this.enable():this.disable():e===et.TOOLTIP_PLACEMENT&&this.tooltipEl&&n!==r?this.tooltipEl.placement=n:e===a.MEDIA_LANG&&(this.shadowRoot.querySelector('slot[name="tooltip-content"]').innerHTML=this.constructor.getTooltipContentHTML()),p(this,wo,id).call(this)&&s(this,Fe).call(this)}connectedCallback(){var n,o,l;let{style:e}=$(this.shadowRoot,":host");e.setProperty("display",`var(--media-control-display, var(--${this.localName}-display, inline-flex))`),this.hasAttribute("disabled")?this.disable():this.enable(),this.setAttribute("role","button");let r=this.getAttribute(x.MEDIA_CONTROLLER);r&&(h(this,me,(n=this.getRootNode())==null?void 0:n.getElementById(r)),(l=(o=s(this,me))==null?void 0:o.associateElement)==null||l.call(o,this)),u.customElements.whenDefined("media-tooltip").then(()=>p(this,Oo,rd).call(this))}disconnectedCallback(){var e,r;this.disable(),(r=(e=s(this,me))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,me,null),this.removeEventListener("mouseenter",s(this,Fe)),this.removeEventListener("focus",s(this,Fe)),this.removeEventListener("click",s(this,It))}get keysUsed(){return["Enter"," "]}get tooltipPlacement(){return _(this,et.TOOLTIP_PLACEMENT)}set tooltipPlacement(e){k(this,et.TOOLTIP_PLACEMENT,e)}get mediaController(){return _(this,x.MEDIA_CONTROLLER)}set mediaController(e){k(this,x.MEDIA_CONTROLLER,e)}get disabled(){return S(this,et.DISABLED)}set disabled(e){M(this,et.DISABLED,e)}get noTooltip(){return S(this,et.NO_TOOLTIP)}set noTooltip(e){M(this,et.NO_TOOLTIP,e)}handleClick(e){}};me=new WeakMap,It=new WeakMap,wo=new WeakSet,id=function(){try{return this.matches(":hover, :focus-visible")}catch{return this.matches(":hover, :focus")}},Fe=new WeakMap,Lt=new WeakMap,wr=new WeakMap,Oo=new WeakSet,rd=function(){this.addEventListener("mouseenter",s(this,Fe)),this.addEventListener("focus",s(this,Fe)),this.addEventListener("click",s(this,It));let e=this.tooltipPlacement;e&&this.tooltipEl&&(this.tooltipEl.placement=e)},U.shadowRootOptions={mode:"open"},U.getTemplateHTML=$c,U.getSlotTemplateHTML=Vc,U.getTooltipContentHTML=Kc;u.customElements.get("media-chrome-button")||u.customElements.define("media-chrome-button",U);var nd=U;var od=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M22.13 3H3.87a.87.87 0 0 0-.87.87v13.26a.87.87 0 0 0 .87.87h3.4L9 16H5V5h16v11h-4l1.72 2h3.4a.87.87 0 0 0 .87-.87V3.87a.87.87 0 0 0-.86-.87Zm-8.75 11.44a.5.5 0 0 0-.76 0l-4.91 5.73a.5.5 0 0 0 .38.83h9.82a.501.501 0 0 0 .38-.83l-4.91-5.73Z"/>
</svg>
`;function Gc(t){return`
    <style>
      :host([${a.MEDIA_IS_AIRPLAYING}]) slot[name=icon] slot:not([name=exit]) {
        display: none !important;
      }

      
      :host(:not([${a.MEDIA_IS_AIRPLAYING}])) slot[name=icon] slot:not([name=enter]) {
        display: none !important;
      }

      :host([${a.MEDIA_IS_AIRPLAYING}]) slot[name=tooltip-enter],
      :host(:not([${a.MEDIA_IS_AIRPLAYING}])) slot[name=tooltip-exit] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="enter">${od}</slot>
      <slot name="exit">${od}</slot>
    </slot>
  `}function qc(){return`
    <slot name="tooltip-enter">${g("start airplay")}</slot>
    <slot name="tooltip-exit">${g("stop airplay")}</slot>
  `}var sd=t=>{let i=t.mediaIsAirplaying?g("stop airplay"):g("start airplay");t.setAttribute("aria-label",i)},bi=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_IS_AIRPLAYING,a.MEDIA_AIRPLAY_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),sd(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_IS_AIRPLAYING&&sd(this)}get mediaIsAirplaying(){return S(this,a.MEDIA_IS_AIRPLAYING)}set mediaIsAirplaying(i){M(this,a.MEDIA_IS_AIRPLAYING,i)}get mediaAirplayUnavailable(){return _(this,a.MEDIA_AIRPLAY_UNAVAILABLE)}set mediaAirplayUnavailable(i){k(this,a.MEDIA_AIRPLAY_UNAVAILABLE,i)}handleClick(){let i=new u.CustomEvent(b.MEDIA_AIRPLAY_REQUEST,{composed:!0,bubbles:!0});this.dispatchEvent(i)}};bi.getSlotTemplateHTML=Gc,bi.getTooltipContentHTML=qc;u.customElements.get("media-airplay-button")||u.customElements.define("media-airplay-button",bi);var ad=bi;var Wc=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M22.83 5.68a2.58 2.58 0 0 0-2.3-2.5c-3.62-.24-11.44-.24-15.06 0a2.58 2.58 0 0 0-2.3 2.5c-.23 4.21-.23 8.43 0 12.64a2.58 2.58 0 0 0 2.3 2.5c3.62.24 11.44.24 15.06 0a2.58 2.58 0 0 0 2.3-2.5c.23-4.21.23-8.43 0-12.64Zm-11.39 9.45a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.92 3.92 0 0 1 .92-2.77 3.18 3.18 0 0 1 2.43-1 2.94 2.94 0 0 1 2.13.78c.364.359.62.813.74 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.17 1.61 1.61 0 0 0-1.29.58 2.79 2.79 0 0 0-.5 1.89 3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.48 1.48 0 0 0 1-.37 2.1 2.1 0 0 0 .59-1.14l1.4.44a3.23 3.23 0 0 1-1.07 1.69Zm7.22 0a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.88 3.88 0 0 1 .93-2.77 3.14 3.14 0 0 1 2.42-1 3 3 0 0 1 2.16.82 2.8 2.8 0 0 1 .73 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.21 1.61 1.61 0 0 0-1.29.58A2.79 2.79 0 0 0 15 12a3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.44 1.44 0 0 0 1-.37 2.1 2.1 0 0 0 .6-1.15l1.4.44a3.17 3.17 0 0 1-1.1 1.7Z"/>
</svg>`,Yc=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M17.73 14.09a1.4 1.4 0 0 1-1 .37 1.579 1.579 0 0 1-1.27-.58A3 3 0 0 1 15 12a2.8 2.8 0 0 1 .5-1.85 1.63 1.63 0 0 1 1.29-.57 1.47 1.47 0 0 1 1.51 1.2l1.43-.34A2.89 2.89 0 0 0 19 9.07a3 3 0 0 0-2.14-.78 3.14 3.14 0 0 0-2.42 1 3.91 3.91 0 0 0-.93 2.78 3.74 3.74 0 0 0 .92 2.66 3.07 3.07 0 0 0 2.34 1 3.07 3.07 0 0 0 1.91-.57 3.17 3.17 0 0 0 1.07-1.74l-1.4-.45c-.083.43-.3.822-.62 1.12Zm-7.22 0a1.43 1.43 0 0 1-1 .37 1.58 1.58 0 0 1-1.27-.58A3 3 0 0 1 7.76 12a2.8 2.8 0 0 1 .5-1.85 1.63 1.63 0 0 1 1.29-.57 1.47 1.47 0 0 1 1.51 1.2l1.43-.34a2.81 2.81 0 0 0-.74-1.32 2.94 2.94 0 0 0-2.13-.78 3.18 3.18 0 0 0-2.43 1 4 4 0 0 0-.92 2.78 3.74 3.74 0 0 0 .92 2.66 3.07 3.07 0 0 0 2.34 1 3.07 3.07 0 0 0 1.91-.57 3.23 3.23 0 0 0 1.07-1.74l-1.4-.45a2.06 2.06 0 0 1-.6 1.07Zm12.32-8.41a2.59 2.59 0 0 0-2.3-2.51C18.72 3.05 15.86 3 13 3c-2.86 0-5.72.05-7.53.17a2.59 2.59 0 0 0-2.3 2.51c-.23 4.207-.23 8.423 0 12.63a2.57 2.57 0 0 0 2.3 2.5c1.81.13 4.67.19 7.53.19 2.86 0 5.72-.06 7.53-.19a2.57 2.57 0 0 0 2.3-2.5c.23-4.207.23-8.423 0-12.63Zm-1.49 12.53a1.11 1.11 0 0 1-.91 1.11c-1.67.11-4.45.18-7.43.18-2.98 0-5.76-.07-7.43-.18a1.11 1.11 0 0 1-.91-1.11c-.21-4.14-.21-8.29 0-12.43a1.11 1.11 0 0 1 .91-1.11C7.24 4.56 10 4.49 13 4.49s5.76.07 7.43.18a1.11 1.11 0 0 1 .91 1.11c.21 4.14.21 8.29 0 12.43Z"/>
</svg>`;function jc(t){return`
    <style>
      :host([aria-checked="true"]) slot[name=off] {
        display: none !important;
      }

      
      :host(:not([aria-checked="true"])) slot[name=on] {
        display: none !important;
      }

      :host([aria-checked="true"]) slot[name=tooltip-enable],
      :host(:not([aria-checked="true"])) slot[name=tooltip-disable] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="on">${Wc}</slot>
      <slot name="off">${Yc}</slot>
    </slot>
  `}function Qc(){return`
    <slot name="tooltip-enable">${g("Enable captions")}</slot>
    <slot name="tooltip-disable">${g("Disable captions")}</slot>
  `}var ld=t=>{t.setAttribute("aria-checked",Io(t).toString())},fi=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_SUBTITLES_LIST,a.MEDIA_SUBTITLES_SHOWING]}connectedCallback(){super.connectedCallback(),this.setAttribute("role","button"),this.setAttribute("aria-label",g("closed captions")),ld(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_SUBTITLES_SHOWING&&ld(this)}get mediaSubtitlesList(){return dd(this,a.MEDIA_SUBTITLES_LIST)}set mediaSubtitlesList(i){ud(this,a.MEDIA_SUBTITLES_LIST,i)}get mediaSubtitlesShowing(){return dd(this,a.MEDIA_SUBTITLES_SHOWING)}set mediaSubtitlesShowing(i){ud(this,a.MEDIA_SUBTITLES_SHOWING,i)}handleClick(){this.dispatchEvent(new u.CustomEvent(b.MEDIA_TOGGLE_SUBTITLES_REQUEST,{composed:!0,bubbles:!0}))}};fi.getSlotTemplateHTML=jc,fi.getTooltipContentHTML=Qc;var dd=(t,i)=>{let e=t.getAttribute(i);return e?At(e):[]},ud=(t,i,e)=>{if(!(e!=null&&e.length)){t.removeAttribute(i);return}let r=Ne(e);t.getAttribute(i)!==r&&t.setAttribute(i,r)};u.customElements.get("media-captions-button")||u.customElements.define("media-captions-button",fi);var cd=fi;var zc='<svg aria-hidden="true" viewBox="0 0 24 24"><g><path class="cast_caf_icon_arch0" d="M1,18 L1,21 L4,21 C4,19.3 2.66,18 1,18 L1,18 Z"/><path class="cast_caf_icon_arch1" d="M1,14 L1,16 C3.76,16 6,18.2 6,21 L8,21 C8,17.13 4.87,14 1,14 L1,14 Z"/><path class="cast_caf_icon_arch2" d="M1,10 L1,12 C5.97,12 10,16.0 10,21 L12,21 C12,14.92 7.07,10 1,10 L1,10 Z"/><path class="cast_caf_icon_box" d="M21,3 L3,3 C1.9,3 1,3.9 1,5 L1,8 L3,8 L3,5 L21,5 L21,19 L14,19 L14,21 L21,21 C22.1,21 23,20.1 23,19 L23,5 C23,3.9 22.1,3 21,3 L21,3 Z"/></g></svg>',Zc='<svg aria-hidden="true" viewBox="0 0 24 24"><g><path class="cast_caf_icon_arch0" d="M1,18 L1,21 L4,21 C4,19.3 2.66,18 1,18 L1,18 Z"/><path class="cast_caf_icon_arch1" d="M1,14 L1,16 C3.76,16 6,18.2 6,21 L8,21 C8,17.13 4.87,14 1,14 L1,14 Z"/><path class="cast_caf_icon_arch2" d="M1,10 L1,12 C5.97,12 10,16.0 10,21 L12,21 C12,14.92 7.07,10 1,10 L1,10 Z"/><path class="cast_caf_icon_box" d="M21,3 L3,3 C1.9,3 1,3.9 1,5 L1,8 L3,8 L3,5 L21,5 L21,19 L14,19 L14,21 L21,21 C22.1,21 23,20.1 23,19 L23,5 C23,3.9 22.1,3 21,3 L21,3 Z"/><path class="cast_caf_icon_boxfill" d="M5,7 L5,8.63 C8,8.6 13.37,14 13.37,17 L19,17 L19,7 Z"/></g></svg>';function Xc(t){return`
    <style>
      :host([${a.MEDIA_IS_CASTING}]) slot[name=icon] slot:not([name=exit]) {
        display: none !important;
      }

      
      :host(:not([${a.MEDIA_IS_CASTING}])) slot[name=icon] slot:not([name=enter]) {
        display: none !important;
      }

      :host([${a.MEDIA_IS_CASTING}]) slot[name=tooltip-enter],
      :host(:not([${a.MEDIA_IS_CASTING}])) slot[name=tooltip-exit] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="enter">${zc}</slot>
      <slot name="exit">${Zc}</slot>
    </slot>
  `}function Jc(){return`
    <slot name="tooltip-enter">${g("Start casting")}</slot>
    <slot name="tooltip-exit">${g("Stop casting")}</slot>
  `}var md=t=>{let i=t.mediaIsCasting?g("stop casting"):g("start casting");t.setAttribute("aria-label",i)},vi=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_IS_CASTING,a.MEDIA_CAST_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),md(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_IS_CASTING&&md(this)}get mediaIsCasting(){return S(this,a.MEDIA_IS_CASTING)}set mediaIsCasting(i){M(this,a.MEDIA_IS_CASTING,i)}get mediaCastUnavailable(){return _(this,a.MEDIA_CAST_UNAVAILABLE)}set mediaCastUnavailable(i){k(this,a.MEDIA_CAST_UNAVAILABLE,i)}handleClick(){let i=this.mediaIsCasting?b.MEDIA_EXIT_CAST_REQUEST:b.MEDIA_ENTER_CAST_REQUEST;this.dispatchEvent(new u.CustomEvent(i,{composed:!0,bubbles:!0}))}};vi.getSlotTemplateHTML=Xc,vi.getTooltipContentHTML=Jc;u.customElements.get("media-cast-button")||u.customElements.define("media-cast-button",vi);var hd=vi;function em(t){return`
    <style>
      :host {
        --_focus-box-shadow: var(--media-focus-box-shadow, inset 0 0 0 2px rgb(27 127 204 / .9));
        --_media-range-padding: var(--media-range-padding, var(--media-control-padding, 10px));

        box-shadow: var(--_focus-visible-box-shadow, none);
        background: var(--media-control-background, var(--media-secondary-color, rgb(20 20 30 / .7)));
        height: calc(var(--media-control-height, 24px) + 2 * var(--_media-range-padding));
        display: inline-flex;
        align-items: center;
        
        vertical-align: middle;
        box-sizing: border-box;
        position: relative;
        width: 100px;
        transition: background .15s linear;
        cursor: var(--media-cursor, pointer);
        pointer-events: auto;
        touch-action: none; 
      }

      
      input[type=range]:focus {
        outline: 0;
      }
      input[type=range]:focus::-webkit-slider-runnable-track {
        outline: 0;
      }

      :host(:hover) {
        background: var(--media-control-hover-background, rgb(50 50 70 / .7));
      }

      #leftgap {
        padding-left: var(--media-range-padding-left, var(--_media-range-padding));
      }

      #rightgap {
        padding-right: var(--media-range-padding-right, var(--_media-range-padding));
      }

      #startpoint,
      #endpoint {
        position: absolute;
      }

      #endpoint {
        right: 0;
      }

      #container {
        
        width: var(--media-range-track-width, 100%);
        transform: translate(var(--media-range-track-translate-x, 0px), var(--media-range-track-translate-y, 0px));
        position: relative;
        height: 100%;
        display: flex;
        align-items: center;
        min-width: 40px;
      }

      #range {
        
        display: var(--media-time-range-hover-display, block);
        bottom: var(--media-time-range-hover-bottom, 0);
        height: var(--media-time-range-hover-height, max(100% , 25px));
        width: 100%;
        position: absolute;
        cursor: var(--media-cursor, pointer);

        -webkit-appearance: none; 
        -webkit-tap-highlight-color: transparent;
        background: transparent; 
        margin: 0;
        z-index: 1;
      }

      @media (hover: hover) {
        #range {
          bottom: var(--media-time-range-hover-bottom, 0);
          height: var(--media-time-range-hover-height, max(100%, 20px));
        }
      }

      
      
      #range::-webkit-slider-thumb {
        -webkit-appearance: none;
        background: transparent;
        width: .1px;
        height: .1px;
      }

      
      #range::-moz-range-thumb {
        background: transparent;
        border: transparent;
        width: .1px;
        height: .1px;
      }

      #appearance {
        height: var(--media-range-track-height, 4px);
        display: flex;
        flex-direction: column;
        justify-content: center;
        width: 100%;
        position: absolute;
        
        will-change: transform;
      }

      #track {
        background: var(--media-range-track-background, rgb(255 255 255 / .2));
        border-radius: var(--media-range-track-border-radius, 1px);
        border: var(--media-range-track-border, none);
        outline: var(--media-range-track-outline);
        outline-offset: var(--media-range-track-outline-offset);
        backdrop-filter: var(--media-range-track-backdrop-filter);
        -webkit-backdrop-filter: var(--media-range-track-backdrop-filter);
        box-shadow: var(--media-range-track-box-shadow, none);
        position: absolute;
        width: 100%;
        height: 100%;
        overflow: hidden;
      }

      #progress,
      #pointer {
        position: absolute;
        height: 100%;
        will-change: width;
      }

      #progress {
        background: var(--media-range-bar-color, var(--media-primary-color, rgb(238 238 238)));
        transition: var(--media-range-track-transition);
      }

      #pointer {
        background: var(--media-range-track-pointer-background);
        border-right: var(--media-range-track-pointer-border-right);
        transition: visibility .25s, opacity .25s;
        visibility: hidden;
        opacity: 0;
      }

      @media (hover: hover) {
        :host(:hover) #pointer {
          transition: visibility .5s, opacity .5s;
          visibility: visible;
          opacity: 1;
        }
      }

      #thumb,
      ::slotted([slot=thumb]) {
        width: var(--media-range-thumb-width, 10px);
        height: var(--media-range-thumb-height, 10px);
        transition: var(--media-range-thumb-transition);
        transform: var(--media-range-thumb-transform, none);
        opacity: var(--media-range-thumb-opacity, 1);
        translate: -50%;
        position: absolute;
        left: 0;
        cursor: var(--media-cursor, pointer);
      }

      #thumb {
        border-radius: var(--media-range-thumb-border-radius, 10px);
        background: var(--media-range-thumb-background, var(--media-primary-color, rgb(238 238 238)));
        box-shadow: var(--media-range-thumb-box-shadow, 1px 1px 1px transparent);
        border: var(--media-range-thumb-border, none);
      }

      :host([disabled]) #thumb {
        background-color: #777;
      }

      .segments #appearance {
        height: var(--media-range-segment-hover-height, 7px);
      }

      #track {
        clip-path: url(#segments-clipping);
      }

      #segments {
        --segments-gap: var(--media-range-segments-gap, 2px);
        position: absolute;
        width: 100%;
        height: 100%;
      }

      #segments-clipping {
        transform: translateX(calc(var(--segments-gap) / 2));
      }

      #segments-clipping:empty {
        display: none;
      }

      #segments-clipping rect {
        height: var(--media-range-track-height, 4px);
        y: calc((var(--media-range-segment-hover-height, 7px) - var(--media-range-track-height, 4px)) / 2);
        transition: var(--media-range-segment-transition, transform .1s ease-in-out);
        transform: var(--media-range-segment-transform, scaleY(1));
        transform-origin: center;
      }

      /* Visible label for accessibility - positioned off-screen but technically visible (Firefox requires visible labels) */
      #range-label {
        position: absolute;
        left: -10000px;
        background: var(--media-control-background, var(--media-secondary-color, rgb(20 20 30 / .7)));
        pointer-events: none;
      }
    </style>
    <div id="leftgap"></div>
    <div id="container">
      <div id="startpoint"></div>
      <div id="endpoint"></div>
      <div id="appearance">
        <div id="track" part="track">
          <div id="pointer"></div>
          <div id="progress" part="progress"></div>
        </div>
        <slot name="thumb">
          <div id="thumb" part="thumb"></div>
        </slot>
        <svg id="segments" aria-hidden="true"><clipPath id="segments-clipping"></clipPath></svg>
      </div>
        <input id="range" type="range" min="0" max="1" step="any" value="0">
        <label for="range" id="range-label"></label>

      ${this.getContainerTemplateHTML(t)}
    </div>
    <div id="rightgap"></div>
  `}function tm(t){return""}var he,Or,Pr,Ur,ne,Hr,Nr,Fr,Br,Po,pd,$r,js,Vr,Qs,Kr,zs,Uo,Ed,Ho,gd,No,bd,Fo,fd,pe=class extends u.HTMLElement{constructor(){super();c(this,Po);c(this,$r);c(this,Vr);c(this,Kr);c(this,Uo);c(this,Ho);c(this,No);c(this,Fo);c(this,he,void 0);c(this,Or,void 0);c(this,Pr,void 0);c(this,Ur,void 0);c(this,ne,{});c(this,Hr,[]);c(this,Nr,()=>{if(this.range.matches(":focus-visible")){let{style:e}=$(this.shadowRoot,":host");e.setProperty("--_focus-visible-box-shadow","var(--_focus-box-shadow)")}});c(this,Fr,()=>{let{style:e}=$(this.shadowRoot,":host");e.removeProperty("--_focus-visible-box-shadow")});c(this,Br,()=>{let e=this.shadowRoot.querySelector("#segments-clipping");e&&e.parentNode.append(e)});if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes),r=this.constructor.getTemplateHTML(e);this.shadowRoot.setHTMLUnsafe?this.shadowRoot.setHTMLUnsafe(r):this.shadowRoot.innerHTML=r}this.container=this.shadowRoot.querySelector("#container"),h(this,Pr,this.shadowRoot.querySelector("#startpoint")),h(this,Ur,this.shadowRoot.querySelector("#endpoint")),this.range=this.shadowRoot.querySelector("#range"),this.appearance=this.shadowRoot.querySelector("#appearance")}static get observedAttributes(){return["disabled","aria-disabled",x.MEDIA_CONTROLLER]}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===x.MEDIA_CONTROLLER?(r&&((l=(o=s(this,he))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,he,null)),n&&this.isConnected&&(h(this,he,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,he))==null?void 0:m.associateElement)==null||E.call(m,this))):(e==="disabled"||e==="aria-disabled"&&r!==n)&&(n==null?(this.range.removeAttribute(e),p(this,$r,js).call(this)):(this.range.setAttribute(e,n),p(this,Vr,Qs).call(this)))}connectedCallback(){var n,o,l;let{style:e}=$(this.shadowRoot,":host");e.setProperty("display",`var(--media-control-display, var(--${this.localName}-display, inline-flex))`),s(this,ne).pointer=$(this.shadowRoot,"#pointer"),s(this,ne).progress=$(this.shadowRoot,"#progress"),s(this,ne).thumb=$(this.shadowRoot,'#thumb, ::slotted([slot="thumb"])'),s(this,ne).activeSegment=$(this.shadowRoot,"#segments-clipping rect:nth-child(0)");let r=this.getAttribute(x.MEDIA_CONTROLLER);r&&(h(this,he,(n=this.getRootNode())==null?void 0:n.getElementById(r)),(l=(o=s(this,he))==null?void 0:o.associateElement)==null||l.call(o,this)),this.updateBar(),this.shadowRoot.addEventListener("focusin",s(this,Nr)),this.shadowRoot.addEventListener("focusout",s(this,Fr)),p(this,$r,js).call(this),Pe(this.container,s(this,Br))}disconnectedCallback(){var e,r;p(this,Vr,Qs).call(this),(r=(e=s(this,he))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,he,null),this.shadowRoot.removeEventListener("focusin",s(this,Nr)),this.shadowRoot.removeEventListener("focusout",s(this,Fr)),Ue(this.container,s(this,Br))}updatePointerBar(e){var r;(r=s(this,ne).pointer)==null||r.style.setProperty("width",`${this.getPointerRatio(e)*100}%`)}updateBar(){var r,n;let e=this.range.valueAsNumber*100;(r=s(this,ne).progress)==null||r.style.setProperty("width",`${e}%`),(n=s(this,ne).thumb)==null||n.style.setProperty("left",`${e}%`)}updateSegments(e){let r=this.shadowRoot.querySelector("#segments-clipping");if(r.textContent="",this.container.classList.toggle("segments",!!(e!=null&&e.length)),!(e!=null&&e.length))return;let n=[...new Set([+this.range.min,...e.flatMap(l=>[l.start,l.end]),+this.range.max])];h(this,Hr,[...n]);let o=n.pop();for(let[l,d]of n.entries()){let[m,E]=[l===0,l===n.length-1],v=m?"calc(var(--segments-gap) / -1)":`${d*100}%`,T=`calc(${((E?o:n[l+1])-d)*100}%${m||E?"":" - var(--segments-gap)"})`,A=F.createElementNS("http://www.w3.org/2000/svg","rect"),D=Er(this.shadowRoot,`#segments-clipping rect:nth-child(${l+1})`);D.style.setProperty("x",v),D.style.setProperty("width",T),r.append(A)}}getPointerRatio(e){return vl(e.clientX,e.clientY,s(this,Pr).getBoundingClientRect(),s(this,Ur).getBoundingClientRect())}get dragging(){return this.hasAttribute("dragging")}handleEvent(e){switch(e.type){case"pointermove":p(this,Fo,fd).call(this,e);break;case"input":this.updateBar();break;case"pointerenter":p(this,Uo,Ed).call(this,e);break;case"pointerdown":p(this,Kr,zs).call(this,e);break;case"pointerup":p(this,Ho,gd).call(this);break;case"pointerleave":p(this,No,bd).call(this);break}}get keysUsed(){return["ArrowUp","ArrowRight","ArrowDown","ArrowLeft"]}};he=new WeakMap,Or=new WeakMap,Pr=new WeakMap,Ur=new WeakMap,ne=new WeakMap,Hr=new WeakMap,Nr=new WeakMap,Fr=new WeakMap,Br=new WeakMap,Po=new WeakSet,pd=function(e){let r=s(this,ne).activeSegment;if(!r)return;let n=this.getPointerRatio(e),l=`#segments-clipping rect:nth-child(${s(this,Hr).findIndex((d,m,E)=>{let v=E[m+1];return v!=null&&n>=d&&n<=v})+1})`;(r.selectorText!=l||!r.style.transform)&&(r.selectorText=l,r.style.setProperty("transform","var(--media-range-segment-hover-transform, scaleY(2))"))},$r=new WeakSet,js=function(){this.hasAttribute("disabled")||!this.isConnected||(this.addEventListener("input",this),this.addEventListener("pointerdown",this),this.addEventListener("pointerenter",this))},Vr=new WeakSet,Qs=function(){var e,r;this.removeEventListener("input",this),this.removeEventListener("pointerdown",this),this.removeEventListener("pointerenter",this),this.removeEventListener("pointerleave",this),(e=u.window)==null||e.removeEventListener("pointerup",this),(r=u.window)==null||r.removeEventListener("pointermove",this)},Kr=new WeakSet,zs=function(e){var r;h(this,Or,e.composedPath().includes(this.range)),(r=u.window)==null||r.addEventListener("pointerup",this,{once:!0})},Uo=new WeakSet,Ed=function(e){var r;e.pointerType!=="mouse"&&p(this,Kr,zs).call(this,e),this.addEventListener("pointerleave",this,{once:!0}),(r=u.window)==null||r.addEventListener("pointermove",this)},Ho=new WeakSet,gd=function(){var e;(e=u.window)==null||e.removeEventListener("pointerup",this),this.toggleAttribute("dragging",!1),this.range.disabled=this.hasAttribute("disabled")},No=new WeakSet,bd=function(){var e,r;this.removeEventListener("pointerleave",this),(e=u.window)==null||e.removeEventListener("pointermove",this),this.toggleAttribute("dragging",!1),this.range.disabled=this.hasAttribute("disabled"),(r=s(this,ne).activeSegment)==null||r.style.removeProperty("transform")},Fo=new WeakSet,fd=function(e){e.pointerType==="pen"&&e.buttons===0||(this.toggleAttribute("dragging",e.buttons===1||e.pointerType!=="mouse"),this.updatePointerBar(e),p(this,Po,pd).call(this,e),this.dragging&&(e.pointerType!=="mouse"||!s(this,Or))&&(this.range.disabled=!0,this.range.valueAsNumber=this.getPointerRatio(e),this.range.dispatchEvent(new Event("input",{bubbles:!0,composed:!0}))))},pe.shadowRootOptions={mode:"open"},pe.getTemplateHTML=em,pe.getContainerTemplateHTML=tm;u.customElements.get("media-chrome-range")||u.customElements.define("media-chrome-range",pe);var vd=pe;function im(t){return`
    <style>
      :host {
        
        box-sizing: border-box;
        display: var(--media-control-display, var(--media-control-bar-display, inline-flex));
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        --media-loading-indicator-icon-height: 44px;
      }

      ::slotted(media-time-range),
      ::slotted(media-volume-range) {
        min-height: 100%;
      }

      ::slotted(media-time-range),
      ::slotted(media-clip-selector) {
        flex-grow: 1;
      }

      ::slotted([role="menu"]) {
        position: absolute;
      }
    </style>

    <slot></slot>
  `}var Ee,Ti=class extends u.HTMLElement{constructor(){super();c(this,Ee,void 0);if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[x.MEDIA_CONTROLLER]}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===x.MEDIA_CONTROLLER&&(r&&((l=(o=s(this,Ee))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,Ee,null)),n&&this.isConnected&&(h(this,Ee,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,Ee))==null?void 0:m.associateElement)==null||E.call(m,this)))}connectedCallback(){var r,n,o;let e=this.getAttribute(x.MEDIA_CONTROLLER);e&&(h(this,Ee,(r=this.getRootNode())==null?void 0:r.getElementById(e)),(o=(n=s(this,Ee))==null?void 0:n.associateElement)==null||o.call(n,this))}disconnectedCallback(){var e,r;(r=(e=s(this,Ee))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,Ee,null)}};Ee=new WeakMap,Ti.shadowRootOptions={mode:"open"},Ti.getTemplateHTML=im;u.customElements.get("media-control-bar")||u.customElements.define("media-control-bar",Ti);var Td=Ti;function rm(t,i={}){return`
    <style>
      :host {
        font: var(--media-font,
          var(--media-font-weight, normal)
          var(--media-font-size, 14px) /
          var(--media-text-content-height, var(--media-control-height, 24px))
          var(--media-font-family, helvetica neue, segoe ui, roboto, arial, sans-serif));
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        background: var(--media-text-background, var(--media-control-background, var(--media-secondary-color, rgb(20 20 30 / .7))));
        padding: var(--media-control-padding, 10px);
        display: inline-flex;
        justify-content: center;
        align-items: center;
        vertical-align: middle;
        box-sizing: border-box;
        text-align: center;
        pointer-events: auto;
      }

      
      :host(:focus-visible) {
        box-shadow: var(--media-focus-box-shadow, inset 0 0 0 2px rgb(27 127 204 / .9));
        outline: 0;
      }

      
      :host(:where(:focus)) {
        box-shadow: none;
        outline: 0;
      }
    </style>

    ${this.getSlotTemplateHTML(t,i)}
  `}function nm(t,i){return`
    <slot></slot>
  `}var ge,Z=class extends u.HTMLElement{constructor(){super();c(this,ge,void 0);if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[x.MEDIA_CONTROLLER]}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===x.MEDIA_CONTROLLER&&(r&&((l=(o=s(this,ge))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,ge,null)),n&&this.isConnected&&(h(this,ge,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,ge))==null?void 0:m.associateElement)==null||E.call(m,this)))}connectedCallback(){var n,o,l;let{style:e}=$(this.shadowRoot,":host");e.setProperty("display",`var(--media-control-display, var(--${this.localName}-display, inline-flex))`);let r=this.getAttribute(x.MEDIA_CONTROLLER);r&&(h(this,ge,(n=this.getRootNode())==null?void 0:n.getElementById(r)),(l=(o=s(this,ge))==null?void 0:o.associateElement)==null||l.call(o,this))}disconnectedCallback(){var e,r;(r=(e=s(this,ge))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,ge,null)}};ge=new WeakMap,Z.shadowRootOptions={mode:"open"},Z.getTemplateHTML=rm,Z.getSlotTemplateHTML=nm;u.customElements.get("media-text-display")||u.customElements.define("media-text-display",Z);var Ad=Z;function om(t,i){return`
    <slot>${re(i.mediaDuration)}</slot>
  `}var Ai,Gr=class extends Z{constructor(){var e;super();c(this,Ai,void 0);h(this,Ai,this.shadowRoot.querySelector("slot")),s(this,Ai).textContent=re((e=this.mediaDuration)!=null?e:0)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_DURATION]}attributeChangedCallback(e,r,n){e===a.MEDIA_DURATION&&(s(this,Ai).textContent=re(+n)),super.attributeChangedCallback(e,r,n)}get mediaDuration(){return C(this,a.MEDIA_DURATION)}set mediaDuration(e){w(this,a.MEDIA_DURATION,e)}};Ai=new WeakMap,Gr.getSlotTemplateHTML=om;u.customElements.get("media-duration-display")||u.customElements.define("media-duration-display",Gr);var yd=Gr;var sm={2:g("Network Error"),3:g("Decode Error"),4:g("Source Not Supported"),5:g("Encryption Error")},am={2:g("A network error caused the media download to fail."),3:g("A media error caused playback to be aborted. The media could be corrupt or your browser does not support this format."),4:g("An unsupported error occurred. The server or network failed, or your browser does not support this format."),5:g("The media is encrypted and there are no keys to decrypt it.")},Bo=t=>{var i,e;return t.code===1?null:{title:(i=sm[t.code])!=null?i:`Error ${t.code}`,message:(e=am[t.code])!=null?e:t.message}};function lm(t){let i=+t.mediaerrorcode;return`
    <style>
      :host {
        background: rgb(20 20 30 / .8);
      }

      #content {
        display: block;
        padding: 1.2em 1.5em;
      }

      h3,
      p {
        margin-block: 0 .3em;
      }
    </style>
    <slot name="error-${i}" id="content">
      ${Md({code:i,message:t.mediaerrormessage})}
    </slot>
  `}function dm(t){return t.code&&Bo(t)!==null}function Md(t){var o;let{title:i,message:e}=(o=Bo(t))!=null?o:{},r=no(t.code),n="";return i&&(n+=`<slot name="error-${r}-title"><h3>${no(i)}</h3></slot>`),e&&(n+=`<slot name="error-${r}-message"><p>${no(e)}</p></slot>`),n}var Sd=[a.MEDIA_ERROR_CODE,a.MEDIA_ERROR_MESSAGE],qr,yi=class extends ue{constructor(){super(...arguments);c(this,qr,null)}static get observedAttributes(){return[...super.observedAttributes,...Sd]}formatErrorMessage(e){return this.constructor.formatErrorMessage(e)}attributeChangedCallback(e,r,n){var l;if(super.attributeChangedCallback(e,r,n),!Sd.includes(e))return;let o=(l=this.mediaError)!=null?l:{code:this.mediaErrorCode,message:this.mediaErrorMessage};if(this.open=dm(o),this.open&&(this.shadowRoot.querySelector("slot").name=`error-${this.mediaErrorCode}`,this.shadowRoot.querySelector("#content").innerHTML=this.formatErrorMessage(o),!this.hasAttribute("aria-label"))){let{title:d}=Bo(o);d&&this.setAttribute("aria-label",d)}}get mediaError(){return s(this,qr)}set mediaError(e){h(this,qr,e)}get mediaErrorCode(){return C(this,"mediaerrorcode")}set mediaErrorCode(e){w(this,"mediaerrorcode",e)}get mediaErrorMessage(){return _(this,"mediaerrormessage")}set mediaErrorMessage(e){k(this,"mediaerrormessage",e)}};qr=new WeakMap,yi.getSlotTemplateHTML=lm,yi.formatErrorMessage=Md;u.customElements.get("media-error-dialog")||u.customElements.define("media-error-dialog",yi);var Id=yi;var um=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M16 3v2.5h3.5V9H22V3h-6ZM4 9h2.5V5.5H10V3H4v6Zm15.5 9.5H16V21h6v-6h-2.5v3.5ZM6.5 15H4v6h6v-2.5H6.5V15Z"/>
</svg>`,cm=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M18.5 6.5V3H16v6h6V6.5h-3.5ZM16 21h2.5v-3.5H22V15h-6v6ZM4 17.5h3.5V21H10v-6H4v2.5Zm3.5-11H4V9h6V3H7.5v3.5Z"/>
</svg>`;function mm(t){return`
    <style>
      :host([${a.MEDIA_IS_FULLSCREEN}]) slot[name=icon] slot:not([name=exit]) {
        display: none !important;
      }

      
      :host(:not([${a.MEDIA_IS_FULLSCREEN}])) slot[name=icon] slot:not([name=enter]) {
        display: none !important;
      }

      :host([${a.MEDIA_IS_FULLSCREEN}]) slot[name=tooltip-enter],
      :host(:not([${a.MEDIA_IS_FULLSCREEN}])) slot[name=tooltip-exit] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="enter">${um}</slot>
      <slot name="exit">${cm}</slot>
    </slot>
  `}function hm(){return`
    <slot name="tooltip-enter">${g("Enter fullscreen mode")}</slot>
    <slot name="tooltip-exit">${g("Exit fullscreen mode")}</slot>
  `}var Ld=t=>{let i=t.mediaIsFullscreen?g("exit fullscreen mode"):g("enter fullscreen mode");t.setAttribute("aria-label",i)},Wr,Si=class extends U{constructor(){super(...arguments);c(this,Wr,null)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_IS_FULLSCREEN,a.MEDIA_FULLSCREEN_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),Ld(this)}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_IS_FULLSCREEN&&Ld(this)}get mediaFullscreenUnavailable(){return _(this,a.MEDIA_FULLSCREEN_UNAVAILABLE)}set mediaFullscreenUnavailable(e){k(this,a.MEDIA_FULLSCREEN_UNAVAILABLE,e)}get mediaIsFullscreen(){return S(this,a.MEDIA_IS_FULLSCREEN)}set mediaIsFullscreen(e){M(this,a.MEDIA_IS_FULLSCREEN,e)}handleClick(e){h(this,Wr,e);let r=s(this,Wr)instanceof PointerEvent,n=this.mediaIsFullscreen?new u.CustomEvent(b.MEDIA_EXIT_FULLSCREEN_REQUEST,{composed:!0,bubbles:!0}):new u.CustomEvent(b.MEDIA_ENTER_FULLSCREEN_REQUEST,{composed:!0,bubbles:!0,detail:r});this.dispatchEvent(n)}};Wr=new WeakMap,Si.getSlotTemplateHTML=mm,Si.getTooltipContentHTML=hm;u.customElements.get("media-fullscreen-button")||u.customElements.define("media-fullscreen-button",Si);var kd=Si;var{MEDIA_TIME_IS_LIVE:$o,MEDIA_PAUSED:Yr}=a,{MEDIA_SEEK_TO_LIVE_REQUEST:pm,MEDIA_PLAY_REQUEST:Em}=b,gm='<svg viewBox="0 0 6 12" aria-hidden="true"><circle cx="3" cy="6" r="2"></circle></svg>';function bm(t){return`
    <style>
      :host { --media-tooltip-display: none; }
      
      slot[name=indicator] > *,
      :host ::slotted([slot=indicator]) {
        
        min-width: auto;
        fill: var(--media-live-button-icon-color, rgb(140, 140, 140));
        color: var(--media-live-button-icon-color, rgb(140, 140, 140));
      }

      :host([${$o}]:not([${Yr}])) slot[name=indicator] > *,
      :host([${$o}]:not([${Yr}])) ::slotted([slot=indicator]) {
        fill: var(--media-live-button-indicator-color, rgb(255, 0, 0));
        color: var(--media-live-button-indicator-color, rgb(255, 0, 0));
      }

      :host([${$o}]:not([${Yr}])) {
        cursor: var(--media-cursor, not-allowed);
      }

      slot[name=text]{
        text-transform: uppercase;
      }

    </style>

    <slot name="indicator">${gm}</slot>
    
    <slot name="spacer">&nbsp;</slot><slot name="text">${g("live")}</slot>
  `}var _d=t=>{var n;let i=t.mediaPaused||!t.mediaTimeIsLive,e=i?g("seek to live"):g("playing live");t.setAttribute("aria-label",e);let r=(n=t.shadowRoot)==null?void 0:n.querySelector('slot[name="text"]');r&&(r.textContent=g("live")),i?t.removeAttribute("aria-disabled"):t.setAttribute("aria-disabled","true")},jr=class extends U{static get observedAttributes(){return[...super.observedAttributes,$o,Yr]}connectedCallback(){super.connectedCallback(),_d(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),_d(this)}get mediaPaused(){return S(this,a.MEDIA_PAUSED)}set mediaPaused(i){M(this,a.MEDIA_PAUSED,i)}get mediaTimeIsLive(){return S(this,a.MEDIA_TIME_IS_LIVE)}set mediaTimeIsLive(i){M(this,a.MEDIA_TIME_IS_LIVE,i)}handleClick(){!this.mediaPaused&&this.mediaTimeIsLive||(this.dispatchEvent(new u.CustomEvent(pm,{composed:!0,bubbles:!0})),this.hasAttribute(Yr)&&this.dispatchEvent(new u.CustomEvent(Em,{composed:!0,bubbles:!0})))}};jr.getSlotTemplateHTML=bm;u.customElements.get("media-live-button")||u.customElements.define("media-live-button",jr);var Rd=jr;var Vo={LOADING_DELAY:"loadingdelay",NO_AUTOHIDE:"noautohide"},xd=500,fm=`
<svg aria-hidden="true" viewBox="0 0 100 100">
  <path d="M73,50c0-12.7-10.3-23-23-23S27,37.3,27,50 M30.9,50c0-10.5,8.5-19.1,19.1-19.1S69.1,39.5,69.1,50">
    <animateTransform
       attributeName="transform"
       attributeType="XML"
       type="rotate"
       dur="1s"
       from="0 50 50"
       to="360 50 50"
       repeatCount="indefinite" />
  </path>
</svg>
`;function vm(t){return`
    <style>
      :host {
        display: var(--media-control-display, var(--media-loading-indicator-display, inline-block));
        vertical-align: middle;
        box-sizing: border-box;
        --_loading-indicator-delay: var(--media-loading-indicator-transition-delay, ${xd}ms);
      }

      #status {
        color: rgba(0,0,0,0);
        width: 0px;
        height: 0px;
      }

      :host slot[name=icon] > *,
      :host ::slotted([slot=icon]) {
        opacity: var(--media-loading-indicator-opacity, 0);
        transition: opacity 0.15s;
      }

      :host([${a.MEDIA_LOADING}]:not([${a.MEDIA_PAUSED}])) slot[name=icon] > *,
      :host([${a.MEDIA_LOADING}]:not([${a.MEDIA_PAUSED}])) ::slotted([slot=icon]) {
        opacity: var(--media-loading-indicator-opacity, 1);
        transition: opacity 0.15s var(--_loading-indicator-delay);
      }

      :host #status {
        visibility: var(--media-loading-indicator-opacity, hidden);
        transition: visibility 0.15s;
      }

      :host([${a.MEDIA_LOADING}]:not([${a.MEDIA_PAUSED}])) #status {
        visibility: var(--media-loading-indicator-opacity, visible);
        transition: visibility 0.15s var(--_loading-indicator-delay);
      }

      svg, img, ::slotted(svg), ::slotted(img) {
        width: var(--media-loading-indicator-icon-width);
        height: var(--media-loading-indicator-icon-height, 100px);
        fill: var(--media-icon-color, var(--media-primary-color, rgb(238 238 238)));
        vertical-align: middle;
      }
    </style>

    <slot name="icon">${fm}</slot>
    <div id="status" role="status" aria-live="polite">${g("media loading")}</div>
  `}var be,Qr,Mi=class extends u.HTMLElement{constructor(){super();c(this,be,void 0);c(this,Qr,xd);if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[x.MEDIA_CONTROLLER,a.MEDIA_PAUSED,a.MEDIA_LOADING,Vo.LOADING_DELAY]}attributeChangedCallback(e,r,n){var o,l,d,m,E;e===Vo.LOADING_DELAY&&r!==n?this.loadingDelay=Number(n):e===x.MEDIA_CONTROLLER&&(r&&((l=(o=s(this,be))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,be,null)),n&&this.isConnected&&(h(this,be,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,be))==null?void 0:m.associateElement)==null||E.call(m,this)))}connectedCallback(){var r,n,o;let e=this.getAttribute(x.MEDIA_CONTROLLER);e&&(h(this,be,(r=this.getRootNode())==null?void 0:r.getElementById(e)),(o=(n=s(this,be))==null?void 0:n.associateElement)==null||o.call(n,this))}disconnectedCallback(){var e,r;(r=(e=s(this,be))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,be,null)}get loadingDelay(){return s(this,Qr)}set loadingDelay(e){h(this,Qr,e);let{style:r}=$(this.shadowRoot,":host");r.setProperty("--_loading-indicator-delay",`var(--media-loading-indicator-transition-delay, ${e}ms)`)}get mediaPaused(){return S(this,a.MEDIA_PAUSED)}set mediaPaused(e){M(this,a.MEDIA_PAUSED,e)}get mediaLoading(){return S(this,a.MEDIA_LOADING)}set mediaLoading(e){M(this,a.MEDIA_LOADING,e)}get mediaController(){return _(this,x.MEDIA_CONTROLLER)}set mediaController(e){k(this,x.MEDIA_CONTROLLER,e)}get noAutohide(){return S(this,Vo.NO_AUTOHIDE)}set noAutohide(e){M(this,Vo.NO_AUTOHIDE,e)}};be=new WeakMap,Qr=new WeakMap,Mi.shadowRootOptions={mode:"open"},Mi.getTemplateHTML=vm;u.customElements.get("media-loading-indicator")||u.customElements.define("media-loading-indicator",Mi);var Cd=Mi;var Tm=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M16.5 12A4.5 4.5 0 0 0 14 8v2.18l2.45 2.45a4.22 4.22 0 0 0 .05-.63Zm2.5 0a6.84 6.84 0 0 1-.54 2.64L20 16.15A8.8 8.8 0 0 0 21 12a9 9 0 0 0-7-8.77v2.06A7 7 0 0 1 19 12ZM4.27 3 3 4.27 7.73 9H3v6h4l5 5v-6.73l4.25 4.25A6.92 6.92 0 0 1 14 18.7v2.06A9 9 0 0 0 17.69 19l2 2.05L21 19.73l-9-9L4.27 3ZM12 4 9.91 6.09 12 8.18V4Z"/>
</svg>`,Dd=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M3 9v6h4l5 5V4L7 9H3Zm13.5 3A4.5 4.5 0 0 0 14 8v8a4.47 4.47 0 0 0 2.5-4Z"/>
</svg>`,Am=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M3 9v6h4l5 5V4L7 9H3Zm13.5 3A4.5 4.5 0 0 0 14 8v8a4.47 4.47 0 0 0 2.5-4ZM14 3.23v2.06a7 7 0 0 1 0 13.42v2.06a9 9 0 0 0 0-17.54Z"/>
</svg>`;function ym(t){return`
    <style>
      :host(:not([${a.MEDIA_VOLUME_LEVEL}])) slot[name=icon] slot:not([name=high]),
      :host([${a.MEDIA_VOLUME_LEVEL}=high]) slot[name=icon] slot:not([name=high]) {
        display: none !important;
      }

      :host([${a.MEDIA_VOLUME_LEVEL}=off]) slot[name=icon] slot:not([name=off]) {
        display: none !important;
      }

      :host([${a.MEDIA_VOLUME_LEVEL}=low]) slot[name=icon] slot:not([name=low]) {
        display: none !important;
      }

      :host([${a.MEDIA_VOLUME_LEVEL}=medium]) slot[name=icon] slot:not([name=medium]) {
        display: none !important;
      }

      :host(:not([${a.MEDIA_VOLUME_LEVEL}=off])) slot[name=tooltip-unmute],
      :host([${a.MEDIA_VOLUME_LEVEL}=off]) slot[name=tooltip-mute] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="off">${Tm}</slot>
      <slot name="low">${Dd}</slot>
      <slot name="medium">${Dd}</slot>
      <slot name="high">${Am}</slot>
    </slot>
  `}function Sm(){return`
    <slot name="tooltip-mute">${g("Mute")}</slot>
    <slot name="tooltip-unmute">${g("Unmute")}</slot>
  `}var wd=t=>{let e=t.mediaVolumeLevel==="off"?g("unmute"):g("mute");t.setAttribute("aria-label",e)},Ii=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_VOLUME_LEVEL]}connectedCallback(){super.connectedCallback(),wd(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_VOLUME_LEVEL&&wd(this)}get mediaVolumeLevel(){return _(this,a.MEDIA_VOLUME_LEVEL)}set mediaVolumeLevel(i){k(this,a.MEDIA_VOLUME_LEVEL,i)}handleClick(){let i=this.mediaVolumeLevel==="off"?b.MEDIA_UNMUTE_REQUEST:b.MEDIA_MUTE_REQUEST;this.dispatchEvent(new u.CustomEvent(i,{composed:!0,bubbles:!0}))}};Ii.getSlotTemplateHTML=ym,Ii.getTooltipContentHTML=Sm;u.customElements.get("media-mute-button")||u.customElements.define("media-mute-button",Ii);var Od=Ii;var Pd=`<svg aria-hidden="true" viewBox="0 0 28 24">
  <path d="M24 3H4a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h20a1 1 0 0 0 1-1V4a1 1 0 0 0-1-1Zm-1 16H5V5h18v14Zm-3-8h-7v5h7v-5Z"/>
</svg>`;function Mm(t){return`
    <style>
      :host([${a.MEDIA_IS_PIP}]) slot[name=icon] slot:not([name=exit]) {
        display: none !important;
      }

      :host(:not([${a.MEDIA_IS_PIP}])) slot[name=icon] slot:not([name=enter]) {
        display: none !important;
      }

      :host([${a.MEDIA_IS_PIP}]) slot[name=tooltip-enter],
      :host(:not([${a.MEDIA_IS_PIP}])) slot[name=tooltip-exit] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="enter">${Pd}</slot>
      <slot name="exit">${Pd}</slot>
    </slot>
  `}function Im(){return`
    <slot name="tooltip-enter">${g("Enter picture in picture mode")}</slot>
    <slot name="tooltip-exit">${g("Exit picture in picture mode")}</slot>
  `}var Ud=t=>{let i=t.mediaIsPip?g("exit picture in picture mode"):g("enter picture in picture mode");t.setAttribute("aria-label",i)},Li=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_IS_PIP,a.MEDIA_PIP_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),Ud(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_IS_PIP&&Ud(this)}get mediaPipUnavailable(){return _(this,a.MEDIA_PIP_UNAVAILABLE)}set mediaPipUnavailable(i){k(this,a.MEDIA_PIP_UNAVAILABLE,i)}get mediaIsPip(){return S(this,a.MEDIA_IS_PIP)}set mediaIsPip(i){M(this,a.MEDIA_IS_PIP,i)}handleClick(){let i=this.mediaIsPip?b.MEDIA_EXIT_PIP_REQUEST:b.MEDIA_ENTER_PIP_REQUEST;this.dispatchEvent(new u.CustomEvent(i,{composed:!0,bubbles:!0}))}};Li.getSlotTemplateHTML=Mm,Li.getTooltipContentHTML=Im;u.customElements.get("media-pip-button")||u.customElements.define("media-pip-button",Li);var Hd=Li;var Zs={RATES:"rates"},Xs=[1,1.2,1.5,1.7,2],kt=1;function _e(t){return Math.round(t*100)/100}function Lm(t){return`
    <style>
      :host {
        min-width: 5ch;
        padding: var(--media-button-padding, var(--media-control-padding, 10px 5px));
      }
    </style>
    <slot name="icon">${t.mediaplaybackrate?_e(+t.mediaplaybackrate):kt}x</slot>
  `}function km(){return g("Playback rate")}var Be,ki=class extends U{constructor(){var e;super();c(this,Be,new Xe(this,Zs.RATES,{defaultValue:Xs}));this.container=this.shadowRoot.querySelector('slot[name="icon"]'),this.container.innerHTML=`${_e((e=this.mediaPlaybackRate)!=null?e:kt)}x`}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PLAYBACK_RATE,Zs.RATES]}attributeChangedCallback(e,r,n){if(super.attributeChangedCallback(e,r,n),e===Zs.RATES&&(s(this,Be).value=n),e===a.MEDIA_PLAYBACK_RATE){let o=n?+n:Number.NaN,l=_e(Number.isNaN(o)?kt:o);this.container.innerHTML=`${l}x`,this.setAttribute("aria-label",g("Playback rate {playbackRate}",{playbackRate:l}))}}get rates(){return s(this,Be)}set rates(e){e?Array.isArray(e)?s(this,Be).value=e.join(" "):typeof e=="string"&&(s(this,Be).value=e):s(this,Be).value=""}get mediaPlaybackRate(){return C(this,a.MEDIA_PLAYBACK_RATE,kt)}set mediaPlaybackRate(e){w(this,a.MEDIA_PLAYBACK_RATE,e)}handleClick(){var o,l;let e=Array.from(s(this,Be).values(),d=>+d).sort((d,m)=>d-m),r=(l=(o=e.find(d=>d>this.mediaPlaybackRate))!=null?o:e[0])!=null?l:kt,n=new u.CustomEvent(b.MEDIA_PLAYBACK_RATE_REQUEST,{composed:!0,bubbles:!0,detail:r});this.dispatchEvent(n)}};Be=new WeakMap,ki.getSlotTemplateHTML=Lm,ki.getTooltipContentHTML=km;u.customElements.get("media-playback-rate-button")||u.customElements.define("media-playback-rate-button",ki);var Nd=ki;var _m=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="m6 21 15-9L6 3v18Z"/>
</svg>`,Rm=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M6 20h4V4H6v16Zm8-16v16h4V4h-4Z"/>
</svg>`;function xm(t){return`
    <style>
      :host([${a.MEDIA_PAUSED}]) slot[name=pause],
      :host(:not([${a.MEDIA_PAUSED}])) slot[name=play] {
        display: none !important;
      }

      :host([${a.MEDIA_PAUSED}]) slot[name=tooltip-pause],
      :host(:not([${a.MEDIA_PAUSED}])) slot[name=tooltip-play] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="play">${_m}</slot>
      <slot name="pause">${Rm}</slot>
    </slot>
  `}function Cm(){return`
    <slot name="tooltip-play">${g("Play")}</slot>
    <slot name="tooltip-pause">${g("Pause")}</slot>
  `}var Fd=t=>{let i=t.mediaPaused?g("play"):g("pause");t.setAttribute("aria-label",i)},_i=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PAUSED,a.MEDIA_ENDED]}connectedCallback(){super.connectedCallback(),Fd(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),(i===a.MEDIA_PAUSED||i===a.MEDIA_LANG)&&Fd(this)}get mediaPaused(){return S(this,a.MEDIA_PAUSED)}set mediaPaused(i){M(this,a.MEDIA_PAUSED,i)}handleClick(){let i=this.mediaPaused?b.MEDIA_PLAY_REQUEST:b.MEDIA_PAUSE_REQUEST;this.dispatchEvent(new u.CustomEvent(i,{composed:!0,bubbles:!0}))}};_i.getSlotTemplateHTML=xm,_i.getTooltipContentHTML=Cm;u.customElements.get("media-play-button")||u.customElements.define("media-play-button",_i);var Bd=_i;var Re={PLACEHOLDER_SRC:"placeholdersrc",SRC:"src"};function Dm(t){return`
    <style>
      :host {
        pointer-events: none;
        display: var(--media-poster-image-display, inline-block);
        box-sizing: border-box;
      }

      img {
        max-width: 100%;
        max-height: 100%;
        min-width: 100%;
        min-height: 100%;
        background-repeat: no-repeat;
        background-position: var(--media-poster-image-background-position, var(--media-object-position, center));
        background-size: var(--media-poster-image-background-size, var(--media-object-fit, contain));
        object-fit: var(--media-object-fit, contain);
        object-position: var(--media-object-position, center);
      }
    </style>

    <img part="poster img" aria-hidden="true" id="image"/>
  `}var wm=t=>{t.style.removeProperty("background-image")},Om=(t,i)=>{t.style["background-image"]=`url('${i}')`},Ri=class extends u.HTMLElement{static get observedAttributes(){return[Re.PLACEHOLDER_SRC,Re.SRC]}constructor(){if(super(),!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let i=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(i)}this.image=this.shadowRoot.querySelector("#image")}attributeChangedCallback(i,e,r){i===Re.SRC&&(r==null?this.image.removeAttribute(Re.SRC):this.image.setAttribute(Re.SRC,r)),i===Re.PLACEHOLDER_SRC&&(r==null?wm(this.image):Om(this.image,r))}get placeholderSrc(){return _(this,Re.PLACEHOLDER_SRC)}set placeholderSrc(i){k(this,Re.SRC,i)}get src(){return _(this,Re.SRC)}set src(i){k(this,Re.SRC,i)}};Ri.shadowRootOptions={mode:"open"},Ri.getTemplateHTML=Dm;u.customElements.get("media-poster-image")||u.customElements.define("media-poster-image",Ri);var $d=Ri;var zr,Ko=class extends Z{constructor(){super();c(this,zr,void 0);h(this,zr,this.shadowRoot.querySelector("slot"))}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PREVIEW_CHAPTER,a.MEDIA_LANG]}attributeChangedCallback(e,r,n){if(super.attributeChangedCallback(e,r,n),(e===a.MEDIA_PREVIEW_CHAPTER||e===a.MEDIA_LANG)&&n!==r&&n!=null)if(s(this,zr).textContent=n,n!==""){let o=g("chapter: {chapterName}",{chapterName:n});this.setAttribute("aria-valuetext",o)}else this.removeAttribute("aria-valuetext")}get mediaPreviewChapter(){return _(this,a.MEDIA_PREVIEW_CHAPTER)}set mediaPreviewChapter(e){k(this,a.MEDIA_PREVIEW_CHAPTER,e)}};zr=new WeakMap;u.customElements.get("media-preview-chapter-display")||u.customElements.define("media-preview-chapter-display",Ko);var Vd=Ko;function Pm(t){return`
    <style>
      :host {
        box-sizing: border-box;
        display: var(--media-control-display, var(--media-preview-thumbnail-display, inline-block));
        overflow: hidden;
      }

      img {
        display: none;
        position: relative;
      }
    </style>
    <img crossorigin loading="eager" decoding="async">
  `}var fe,xi=class extends u.HTMLElement{constructor(){super();c(this,fe,void 0);if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[x.MEDIA_CONTROLLER,a.MEDIA_PREVIEW_IMAGE,a.MEDIA_PREVIEW_COORDS]}connectedCallback(){var r,n,o;let e=this.getAttribute(x.MEDIA_CONTROLLER);e&&(h(this,fe,(r=this.getRootNode())==null?void 0:r.getElementById(e)),(o=(n=s(this,fe))==null?void 0:n.associateElement)==null||o.call(n,this))}disconnectedCallback(){var e,r;(r=(e=s(this,fe))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,fe,null)}attributeChangedCallback(e,r,n){var o,l,d,m,E;[a.MEDIA_PREVIEW_IMAGE,a.MEDIA_PREVIEW_COORDS].includes(e)&&this.update(),e===x.MEDIA_CONTROLLER&&(r&&((l=(o=s(this,fe))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,fe,null)),n&&this.isConnected&&(h(this,fe,(d=this.getRootNode())==null?void 0:d.getElementById(n)),(E=(m=s(this,fe))==null?void 0:m.associateElement)==null||E.call(m,this)))}get mediaPreviewImage(){return _(this,a.MEDIA_PREVIEW_IMAGE)}set mediaPreviewImage(e){k(this,a.MEDIA_PREVIEW_IMAGE,e)}get mediaPreviewCoords(){let e=this.getAttribute(a.MEDIA_PREVIEW_COORDS);if(e)return e.split(/\s+/).map(r=>+r)}set mediaPreviewCoords(e){if(!e){this.removeAttribute(a.MEDIA_PREVIEW_COORDS);return}this.setAttribute(a.MEDIA_PREVIEW_COORDS,e.join(" "))}update(){let e=this.mediaPreviewCoords,r=this.mediaPreviewImage;if(!(e&&r))return;let[n,o,l,d]=e,m=r.split("#")[0],E=getComputedStyle(this),{maxWidth:v,maxHeight:y,minWidth:T,minHeight:A}=E,D=E.getPropertyValue("--media-preview-thumbnail-object-fit").trim()||"contain",L,R;if(D==="fill"){let De=parseInt(v)/l,we=parseInt(y)/d,dr=parseInt(T)/l,ut=parseInt(A)/d;L=De<1?De:Math.max(De,dr),R=we<1?we:Math.max(we,ut)}else{let De=Math.min(parseInt(v)/l,parseInt(y)/d),we=Math.max(parseInt(T)/l,parseInt(A)/d),ut=De<1?De:we>1?we:1;L=ut,R=ut}let{style:P}=$(this.shadowRoot,":host"),H=$(this.shadowRoot,"img").style,ae=this.shadowRoot.querySelector("img"),lr=Math.min(L,R)<1?"min":"max";P.setProperty(`${lr}-width`,"initial","important"),P.setProperty(`${lr}-height`,"initial","important"),P.width=`${l*L}px`,P.height=`${d*R}px`;let ti=()=>{H.width=`${this.imgWidth*L}px`,H.height=`${this.imgHeight*R}px`,H.display="block"};ae.src!==m&&(ae.onload=()=>{this.imgWidth=ae.naturalWidth,this.imgHeight=ae.naturalHeight,ti(),ae.onload=null},ae.src=m,ti()),ti(),H.transform=`translate(-${n*L}px, -${o*R}px)`}};fe=new WeakMap,xi.shadowRootOptions={mode:"open"},xi.getTemplateHTML=Pm;u.customElements.get("media-preview-thumbnail")||u.customElements.define("media-preview-thumbnail",xi);var Zr=xi;var Ci,Go=class extends Z{constructor(){super();c(this,Ci,void 0);h(this,Ci,this.shadowRoot.querySelector("slot")),s(this,Ci).textContent=re(0)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PREVIEW_TIME]}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_PREVIEW_TIME&&n!=null&&(s(this,Ci).textContent=re(parseFloat(n)))}get mediaPreviewTime(){return C(this,a.MEDIA_PREVIEW_TIME)}set mediaPreviewTime(e){w(this,a.MEDIA_PREVIEW_TIME,e)}};Ci=new WeakMap;u.customElements.get("media-preview-time-display")||u.customElements.define("media-preview-time-display",Go);var Kd=Go;var Di={SEEK_OFFSET:"seekoffset"},Js=30,Um=t=>`
  <svg aria-hidden="true" viewBox="0 0 20 24">
    <defs>
      <style>.text{font-size:8px;font-family:Arial-BoldMT, Arial;font-weight:700;}</style>
    </defs>
    <text class="text value" transform="translate(2.18 19.87)">${t}</text>
    <path d="M10 6V3L4.37 7 10 10.94V8a5.54 5.54 0 0 1 1.9 10.48v2.12A7.5 7.5 0 0 0 10 6Z"/>
  </svg>`;function Hm(t,i){return`
    <slot name="icon">${Um(i.seekOffset)}</slot>
  `}var Nm=(t,i)=>{t.setAttribute("aria-label",g("seek back {seekOffset} seconds",{seekOffset:i}))};function Fm(){return g("Seek backward")}var Bm=0,wi=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_CURRENT_TIME,Di.SEEK_OFFSET]}connectedCallback(){super.connectedCallback(),this.seekOffset=C(this,Di.SEEK_OFFSET,Js)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),Nm(this,this.seekOffset),i===Di.SEEK_OFFSET&&(this.seekOffset=C(this,Di.SEEK_OFFSET,Js))}get seekOffset(){return C(this,Di.SEEK_OFFSET,Js)}set seekOffset(i){w(this,Di.SEEK_OFFSET,i),this.setAttribute("aria-label",g("seek back {seekOffset} seconds",{seekOffset:this.seekOffset})),co(mo(this,"icon"),this.seekOffset)}get mediaCurrentTime(){return C(this,a.MEDIA_CURRENT_TIME,Bm)}set mediaCurrentTime(i){w(this,a.MEDIA_CURRENT_TIME,i)}handleClick(){let i=Math.max(this.mediaCurrentTime-this.seekOffset,0),e=new u.CustomEvent(b.MEDIA_SEEK_REQUEST,{composed:!0,bubbles:!0,detail:i});this.dispatchEvent(e)}};wi.getSlotTemplateHTML=Hm,wi.getTooltipContentHTML=Fm;u.customElements.get("media-seek-backward-button")||u.customElements.define("media-seek-backward-button",wi);var Gd=wi;var Oi={SEEK_OFFSET:"seekoffset"},ea=30,$m=t=>`
  <svg aria-hidden="true" viewBox="0 0 20 24">
    <defs>
      <style>.text{font-size:8px;font-family:Arial-BoldMT, Arial;font-weight:700;}</style>
    </defs>
    <text class="text value" transform="translate(8.9 19.87)">${t}</text>
    <path d="M10 6V3l5.61 4L10 10.94V8a5.54 5.54 0 0 0-1.9 10.48v2.12A7.5 7.5 0 0 1 10 6Z"/>
  </svg>`;function Vm(t,i){return`
    <slot name="icon">${$m(i.seekOffset)}</slot>
  `}var Km=(t,i)=>{t.setAttribute("aria-label",g("seek forward {seekOffset} seconds",{seekOffset:i}))};function Gm(){return g("Seek forward")}var qm=0,Pi=class extends U{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_CURRENT_TIME,Oi.SEEK_OFFSET]}connectedCallback(){super.connectedCallback(),this.seekOffset=C(this,Oi.SEEK_OFFSET,ea)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),Km(this,this.seekOffset),i===Oi.SEEK_OFFSET&&(this.seekOffset=C(this,Oi.SEEK_OFFSET,ea))}get seekOffset(){return C(this,Oi.SEEK_OFFSET,ea)}set seekOffset(i){w(this,Oi.SEEK_OFFSET,i),this.setAttribute("aria-label",g("seek forward {seekOffset} seconds",{seekOffset:this.seekOffset})),co(mo(this,"icon"),this.seekOffset)}get mediaCurrentTime(){return C(this,a.MEDIA_CURRENT_TIME,qm)}set mediaCurrentTime(i){w(this,a.MEDIA_CURRENT_TIME,i)}handleClick(){let i=this.mediaCurrentTime+this.seekOffset,e=new u.CustomEvent(b.MEDIA_SEEK_REQUEST,{composed:!0,bubbles:!0,detail:i});this.dispatchEvent(e)}};Pi.getSlotTemplateHTML=Vm,Pi.getTooltipContentHTML=Gm;u.customElements.get("media-seek-forward-button")||u.customElements.define("media-seek-forward-button",Pi);var qd=Pi;var tt={REMAINING:"remaining",SHOW_DURATION:"showduration",NO_TOGGLE:"notoggle"},Wd=[...Object.values(tt),a.MEDIA_CURRENT_TIME,a.MEDIA_DURATION,a.MEDIA_SEEKABLE],Yd=["Enter"," "],Wm="&nbsp;/&nbsp;",ta=(t,{timesSep:i=Wm}={})=>{var l,d;let e=(l=t.mediaCurrentTime)!=null?l:0,[,r]=(d=t.mediaSeekable)!=null?d:[],n=0;Number.isFinite(t.mediaDuration)?n=t.mediaDuration:Number.isFinite(r)&&(n=r);let o=t.remaining?re(0-(n-e)):re(e);return t.showDuration?`${o}${i}${re(n)}`:o},Ym=t=>{var d;let i=t.mediaCurrentTime,[,e]=(d=t.mediaSeekable)!=null?d:[],r=null;if(Number.isFinite(t.mediaDuration)?r=t.mediaDuration:Number.isFinite(e)&&(r=e),i==null||r===null){t.setAttribute("aria-description",g("video not loaded, unknown time."));return}let n=t.remaining?Ye(0-(r-i)):Ye(i);if(!t.showDuration){t.setAttribute("aria-description",n);return}let o=Ye(r),l=g("{currentTime} of {totalTime}",{currentTime:n,totalTime:o});t.setAttribute("aria-description",l)};function jm(t,i){return`
    <slot>${ta(i)}</slot>
  `}var Qm=t=>{t.setAttribute("aria-label",g("playback time"))},_t,ve,Jr,Wo,jd,en,ia,Ui,qo,tn,ra,Xr=class extends Z{constructor(){super();c(this,Wo);c(this,en);c(this,Ui);c(this,tn);c(this,_t,void 0);c(this,ve,null);c(this,Jr,e=>{let{metaKey:r,altKey:n,key:o}=e;if(r||n||!Yd.includes(o)){this.removeEventListener("keyup",s(this,ve));return}this.addEventListener("keyup",s(this,ve))});h(this,_t,this.shadowRoot.querySelector("slot")),s(this,_t).innerHTML=`${ta(this)}`}static get observedAttributes(){return[...super.observedAttributes,...Wd,"disabled"]}connectedCallback(){let{style:e}=$(this.shadowRoot,":host(:hover:not([notoggle]))");e.setProperty("cursor","var(--media-cursor, pointer)"),e.setProperty("background","var(--media-control-hover-background, rgba(50 50 70 / .7))"),this.setAttribute("aria-label",g("playback time")),p(this,Ui,qo).call(this),super.connectedCallback()}toggleTimeDisplay(){this.noToggle||(this.hasAttribute("remaining")?this.removeAttribute("remaining"):this.setAttribute("remaining",""))}disconnectedCallback(){this.disable(),p(this,en,ia).call(this),super.disconnectedCallback()}attributeChangedCallback(e,r,n){Qm(this),Wd.includes(e)?this.update():e==="disabled"&&n!==r?n==null?p(this,Ui,qo).call(this):p(this,tn,ra).call(this):e===tt.NO_TOGGLE&&n!==r&&(this.noToggle?p(this,tn,ra).call(this):p(this,Ui,qo).call(this)),super.attributeChangedCallback(e,r,n)}enable(){this.noToggle||(this.tabIndex=0)}disable(){this.tabIndex=-1}get remaining(){return S(this,tt.REMAINING)}set remaining(e){M(this,tt.REMAINING,e)}get showDuration(){return S(this,tt.SHOW_DURATION)}set showDuration(e){M(this,tt.SHOW_DURATION,e)}get noToggle(){return S(this,tt.NO_TOGGLE)}set noToggle(e){M(this,tt.NO_TOGGLE,e)}get mediaDuration(){return C(this,a.MEDIA_DURATION)}set mediaDuration(e){w(this,a.MEDIA_DURATION,e)}get mediaCurrentTime(){return C(this,a.MEDIA_CURRENT_TIME)}set mediaCurrentTime(e){w(this,a.MEDIA_CURRENT_TIME,e)}get mediaSeekable(){let e=this.getAttribute(a.MEDIA_SEEKABLE);if(e)return e.split(":").map(r=>+r)}set mediaSeekable(e){if(e==null){this.removeAttribute(a.MEDIA_SEEKABLE);return}this.setAttribute(a.MEDIA_SEEKABLE,e.join(":"))}update(){let e=ta(this);Ym(this),e!==s(this,_t).innerHTML&&(s(this,_t).innerHTML=e)}};_t=new WeakMap,ve=new WeakMap,Jr=new WeakMap,Wo=new WeakSet,jd=function(){s(this,ve)||(h(this,ve,e=>{let{key:r}=e;if(!Yd.includes(r)){this.removeEventListener("keyup",s(this,ve));return}this.toggleTimeDisplay()}),this.addEventListener("keydown",s(this,Jr)),this.addEventListener("click",this.toggleTimeDisplay))},en=new WeakSet,ia=function(){s(this,ve)&&(this.removeEventListener("keyup",s(this,ve)),this.removeEventListener("keydown",s(this,Jr)),this.removeEventListener("click",this.toggleTimeDisplay),h(this,ve,null))},Ui=new WeakSet,qo=function(){!this.noToggle&&!this.hasAttribute("disabled")&&(this.setAttribute("role","button"),this.enable(),p(this,Wo,jd).call(this))},tn=new WeakSet,ra=function(){this.removeAttribute("role"),this.disable(),p(this,en,ia).call(this)},Xr.getSlotTemplateHTML=jm;u.customElements.get("media-time-display")||u.customElements.define("media-time-display",Xr);var Qd=Xr;var Rt,rn,xt,Hi,nn,on,sn,Ct,it,an,Yo=class{constructor(i,e,r){c(this,Rt,void 0);c(this,rn,void 0);c(this,xt,void 0);c(this,Hi,void 0);c(this,nn,void 0);c(this,on,void 0);c(this,sn,void 0);c(this,Ct,void 0);c(this,it,0);c(this,an,(i=performance.now())=>{h(this,it,requestAnimationFrame(s(this,an))),h(this,Hi,performance.now()-s(this,xt));let e=1e3/this.fps;if(s(this,Hi)>e){h(this,xt,i-s(this,Hi)%e);let r=1e3/((i-s(this,rn))/++el(this,nn)._),n=(i-s(this,on))/1e3/this.duration,o=s(this,sn)+n*this.playbackRate;o-s(this,Rt).valueAsNumber>0?h(this,Ct,this.playbackRate/this.duration/r):(h(this,Ct,.995*s(this,Ct)),o=s(this,Rt).valueAsNumber+s(this,Ct)),this.callback(o)}});h(this,Rt,i),this.callback=e,this.fps=r}start(){s(this,it)===0&&(h(this,xt,performance.now()),h(this,rn,s(this,xt)),h(this,nn,0),s(this,an).call(this))}stop(){s(this,it)!==0&&(cancelAnimationFrame(s(this,it)),h(this,it,0))}update({start:i,duration:e,playbackRate:r}){let n=i-s(this,Rt).valueAsNumber,o=Math.abs(e-this.duration);(n>0||n<-.5/e||o>=.5)&&this.callback(i),h(this,sn,i),h(this,on,performance.now()),this.duration=e,this.playbackRate=r}};Rt=new WeakMap,rn=new WeakMap,xt=new WeakMap,Hi=new WeakMap,nn=new WeakMap,on=new WeakMap,sn=new WeakMap,Ct=new WeakMap,it=new WeakMap,an=new WeakMap;var zm=t=>{let i=t.range,e=Ye(+zd(t)),r=Ye(+t.mediaSeekableEnd),n=e&&r?g("{currentTime} of {totalTime}",{currentTime:e,totalTime:r}):g("video not loaded, unknown time.");i.setAttribute("aria-valuetext",n)};function Zm(t){return`
    <style>
      :host {
        --media-box-border-radius: 4px;
        --media-box-padding-left: 10px;
        --media-box-padding-right: 10px;
        --media-preview-border-radius: var(--media-box-border-radius);
        --media-box-arrow-offset: var(--media-box-border-radius);
        --_control-background: var(--media-control-background, var(--media-secondary-color, rgb(20 20 30 / .7)));
        --_preview-background: var(--media-preview-background, var(--_control-background));

        
        contain: layout;
      }

      #buffered {
        background: var(--media-time-range-buffered-color, rgb(255 255 255 / .4));
        position: absolute;
        height: 100%;
        will-change: width;
      }

      #preview-rail,
      #current-rail {
        width: 100%;
        position: absolute;
        left: 0;
        bottom: 100%;
        pointer-events: none;
        will-change: transform;
      }

      [part~="box"] {
        width: min-content;
        
        position: absolute;
        bottom: 100%;
        flex-direction: column;
        align-items: center;
        transform: translateX(-50%);
      }

      [part~="current-box"] {
        display: var(--media-current-box-display, var(--media-box-display, flex));
        margin: var(--media-current-box-margin, var(--media-box-margin, 0 0 5px));
        visibility: hidden;
      }

      [part~="preview-box"] {
        display: var(--media-preview-box-display, var(--media-box-display, flex));
        margin: var(--media-preview-box-margin, var(--media-box-margin, 0 0 5px));
        transition-property: var(--media-preview-transition-property, visibility, opacity);
        transition-duration: var(--media-preview-transition-duration-out, .25s);
        transition-delay: var(--media-preview-transition-delay-out, 0s);
        visibility: hidden;
        opacity: 0;
      }

      :host(:is([${a.MEDIA_PREVIEW_IMAGE}], [${a.MEDIA_PREVIEW_TIME}])[dragging]) [part~="preview-box"] {
        transition-duration: var(--media-preview-transition-duration-in, .5s);
        transition-delay: var(--media-preview-transition-delay-in, .25s);
        visibility: visible;
        opacity: 1;
      }

      @media (hover: hover) {
        :host(:is([${a.MEDIA_PREVIEW_IMAGE}], [${a.MEDIA_PREVIEW_TIME}]):hover) [part~="preview-box"] {
          transition-duration: var(--media-preview-transition-duration-in, .5s);
          transition-delay: var(--media-preview-transition-delay-in, .25s);
          visibility: visible;
          opacity: 1;
        }
      }

      media-preview-thumbnail,
      ::slotted(media-preview-thumbnail) {
        visibility: hidden;
        
        transition: visibility 0s .25s;
        transition-delay: calc(var(--media-preview-transition-delay-out, 0s) + var(--media-preview-transition-duration-out, .25s));
        background: var(--media-preview-thumbnail-background, var(--_preview-background));
        box-shadow: var(--media-preview-thumbnail-box-shadow, 0 0 4px rgb(0 0 0 / .2));
        max-width: var(--media-preview-thumbnail-max-width, 180px);
        max-height: var(--media-preview-thumbnail-max-height, 160px);
        min-width: var(--media-preview-thumbnail-min-width, 120px);
        min-height: var(--media-preview-thumbnail-min-height, 80px);
        border: var(--media-preview-thumbnail-border);
        border-radius: var(--media-preview-thumbnail-border-radius,
          var(--media-preview-border-radius) var(--media-preview-border-radius) 0 0);
      }

      :host([${a.MEDIA_PREVIEW_IMAGE}][dragging]) media-preview-thumbnail,
      :host([${a.MEDIA_PREVIEW_IMAGE}][dragging]) ::slotted(media-preview-thumbnail) {
        transition-delay: var(--media-preview-transition-delay-in, .25s);
        visibility: visible;
      }

      @media (hover: hover) {
        :host([${a.MEDIA_PREVIEW_IMAGE}]:hover) media-preview-thumbnail,
        :host([${a.MEDIA_PREVIEW_IMAGE}]:hover) ::slotted(media-preview-thumbnail) {
          transition-delay: var(--media-preview-transition-delay-in, .25s);
          visibility: visible;
        }

        :host([${a.MEDIA_PREVIEW_TIME}]:hover) {
          --media-time-range-hover-display: block;
        }
      }

      media-preview-chapter-display,
      ::slotted(media-preview-chapter-display) {
        font-size: var(--media-font-size, 13px);
        line-height: 17px;
        min-width: 0;
        visibility: hidden;
        
        transition: min-width 0s, border-radius 0s, margin 0s, padding 0s, visibility 0s;
        transition-delay: calc(var(--media-preview-transition-delay-out, 0s) + var(--media-preview-transition-duration-out, .25s));
        background: var(--media-preview-chapter-background, var(--_preview-background));
        border-radius: var(--media-preview-chapter-border-radius,
          var(--media-preview-border-radius) var(--media-preview-border-radius)
          var(--media-preview-border-radius) var(--media-preview-border-radius));
        padding: var(--media-preview-chapter-padding, 3.5px 9px);
        margin: var(--media-preview-chapter-margin, 0 0 5px);
        text-shadow: var(--media-preview-chapter-text-shadow, 0 0 4px rgb(0 0 0 / .75));
      }

      :host([${a.MEDIA_PREVIEW_IMAGE}]) media-preview-chapter-display,
      :host([${a.MEDIA_PREVIEW_IMAGE}]) ::slotted(media-preview-chapter-display) {
        transition-delay: var(--media-preview-transition-delay-in, .25s);
        border-radius: var(--media-preview-chapter-border-radius, 0);
        padding: var(--media-preview-chapter-padding, 3.5px 9px 0);
        margin: var(--media-preview-chapter-margin, 0);
        min-width: 100%;
      }

      media-preview-chapter-display[${a.MEDIA_PREVIEW_CHAPTER}],
      ::slotted(media-preview-chapter-display[${a.MEDIA_PREVIEW_CHAPTER}]) {
        visibility: visible;
      }

      media-preview-chapter-display:not([aria-valuetext]),
      ::slotted(media-preview-chapter-display:not([aria-valuetext])) {
        display: none;
      }

      media-preview-time-display,
      ::slotted(media-preview-time-display),
      media-time-display,
      ::slotted(media-time-display) {
        font-size: var(--media-font-size, 13px);
        line-height: 17px;
        min-width: 0;
        
        transition: min-width 0s, border-radius 0s;
        transition-delay: calc(var(--media-preview-transition-delay-out, 0s) + var(--media-preview-transition-duration-out, .25s));
        background: var(--media-preview-time-background, var(--_preview-background));
        border-radius: var(--media-preview-time-border-radius,
          var(--media-preview-border-radius) var(--media-preview-border-radius)
          var(--media-preview-border-radius) var(--media-preview-border-radius));
        padding: var(--media-preview-time-padding, 3.5px 9px);
        margin: var(--media-preview-time-margin, 0);
        text-shadow: var(--media-preview-time-text-shadow, 0 0 4px rgb(0 0 0 / .75));
        transform: translateX(min(
          max(calc(50% - var(--_box-width) / 2),
          calc(var(--_box-shift, 0))),
          calc(var(--_box-width) / 2 - 50%)
        ));
      }

      :host([${a.MEDIA_PREVIEW_IMAGE}]) media-preview-time-display,
      :host([${a.MEDIA_PREVIEW_IMAGE}]) ::slotted(media-preview-time-display) {
        transition-delay: var(--media-preview-transition-delay-in, .25s);
        border-radius: var(--media-preview-time-border-radius,
          0 0 var(--media-preview-border-radius) var(--media-preview-border-radius));
        min-width: 100%;
      }

      :host([${a.MEDIA_PREVIEW_TIME}]:hover) {
        --media-time-range-hover-display: block;
      }

      [part~="arrow"],
      ::slotted([part~="arrow"]) {
        display: var(--media-box-arrow-display, inline-block);
        transform: translateX(min(
          max(calc(50% - var(--_box-width) / 2 + var(--media-box-arrow-offset)),
          calc(var(--_box-shift, 0))),
          calc(var(--_box-width) / 2 - 50% - var(--media-box-arrow-offset))
        ));
        
        border-color: transparent;
        border-top-color: var(--media-box-arrow-background, var(--_control-background));
        border-width: var(--media-box-arrow-border-width,
          var(--media-box-arrow-height, 5px) var(--media-box-arrow-width, 6px) 0);
        border-style: solid;
        justify-content: center;
        height: 0;
      }
    </style>
    <div id="preview-rail">
      <slot name="preview" part="box preview-box">
        <media-preview-thumbnail>
          <template shadowrootmode="${Zr.shadowRootOptions.mode}">
            ${Zr.getTemplateHTML({})}
          </template>
        </media-preview-thumbnail>
        <media-preview-chapter-display></media-preview-chapter-display>
        <media-preview-time-display></media-preview-time-display>
        <slot name="preview-arrow"><div part="arrow"></div></slot>
      </slot>
    </div>
    <div id="current-rail">
      <slot name="current" part="box current-box">
        
      </slot>
    </div>
  `}var jo=(t,i=t.mediaCurrentTime)=>{let e=Number.isFinite(t.mediaSeekableStart)?t.mediaSeekableStart:0,r=Number.isFinite(t.mediaDuration)?t.mediaDuration:t.mediaSeekableEnd;if(Number.isNaN(r))return 0;let n=(i-e)/(r-e);return Math.max(0,Math.min(n,1))},zd=(t,i=t.range.valueAsNumber)=>{let e=Number.isFinite(t.mediaSeekableStart)?t.mediaSeekableStart:0,r=Number.isFinite(t.mediaDuration)?t.mediaDuration:t.mediaSeekableEnd;return Number.isNaN(r)?0:i*(r-e)+e},Dt,$e,ln,Fi,dn,un,Bi,$i,wt,Ot,Vi,zo,Zd,Zo,cn,na,mn,oa,hn,sa,Xo,Xd,Ki,Qo,Jo,Jd,Ni=class extends pe{constructor(){super();c(this,zo);c(this,cn);c(this,mn);c(this,hn);c(this,Xo);c(this,Ki);c(this,Jo);c(this,Dt,null);c(this,$e,void 0);c(this,ln,void 0);c(this,Fi,void 0);c(this,dn,void 0);c(this,un,void 0);c(this,Bi,void 0);c(this,$i,void 0);c(this,wt,void 0);c(this,Ot,void 0);c(this,Vi,()=>{p(this,zo,Zd).call(this)?s(this,$e).start():s(this,$e).stop()});c(this,Zo,e=>{this.dragging||(ri(e)&&(this.range.valueAsNumber=e),s(this,Ot)||this.updateBar())});this.shadowRoot.querySelector("#track").insertAdjacentHTML("afterbegin",'<div id="buffered" part="buffered"></div>'),h(this,ln,this.shadowRoot.querySelectorAll('[part~="box"]')),h(this,dn,this.shadowRoot.querySelector('[part~="preview-box"]')),h(this,un,this.shadowRoot.querySelector('[part~="current-box"]'));let r=getComputedStyle(this);h(this,Bi,parseInt(r.getPropertyValue("--media-box-padding-left"))),h(this,$i,parseInt(r.getPropertyValue("--media-box-padding-right"))),h(this,$e,new Yo(this.range,s(this,Zo),60))}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PAUSED,a.MEDIA_DURATION,a.MEDIA_SEEKABLE,a.MEDIA_CURRENT_TIME,a.MEDIA_PREVIEW_IMAGE,a.MEDIA_PREVIEW_TIME,a.MEDIA_PREVIEW_CHAPTER,a.MEDIA_BUFFERED,a.MEDIA_PLAYBACK_RATE,a.MEDIA_LOADING,a.MEDIA_ENDED]}connectedCallback(){var e;super.connectedCallback(),this.range.setAttribute("aria-label",g("seek")),s(this,Vi).call(this),h(this,Dt,this.getRootNode()),(e=s(this,Dt))==null||e.addEventListener("transitionstart",this)}disconnectedCallback(){var e;super.disconnectedCallback(),s(this,$e).stop(),(e=s(this,Dt))==null||e.removeEventListener("transitionstart",this),h(this,Dt,null)}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),r!=n&&(e===a.MEDIA_CURRENT_TIME||e===a.MEDIA_PAUSED||e===a.MEDIA_ENDED||e===a.MEDIA_LOADING||e===a.MEDIA_DURATION||e===a.MEDIA_SEEKABLE?(s(this,$e).update({start:jo(this),duration:this.mediaSeekableEnd-this.mediaSeekableStart,playbackRate:this.mediaPlaybackRate}),s(this,Vi).call(this),zm(this)):e===a.MEDIA_BUFFERED&&this.updateBufferedBar(),(e===a.MEDIA_DURATION||e===a.MEDIA_SEEKABLE)&&(this.mediaChaptersCues=s(this,wt),this.updateBar()))}get mediaChaptersCues(){return s(this,wt)}set mediaChaptersCues(e){var r;h(this,wt,e),this.updateSegments((r=s(this,wt))==null?void 0:r.map(n=>({start:jo(this,n.startTime),end:jo(this,n.endTime)})))}get mediaPaused(){return S(this,a.MEDIA_PAUSED)}set mediaPaused(e){M(this,a.MEDIA_PAUSED,e)}get mediaLoading(){return S(this,a.MEDIA_LOADING)}set mediaLoading(e){M(this,a.MEDIA_LOADING,e)}get mediaDuration(){return C(this,a.MEDIA_DURATION)}set mediaDuration(e){w(this,a.MEDIA_DURATION,e)}get mediaCurrentTime(){return C(this,a.MEDIA_CURRENT_TIME)}set mediaCurrentTime(e){w(this,a.MEDIA_CURRENT_TIME,e)}get mediaPlaybackRate(){return C(this,a.MEDIA_PLAYBACK_RATE,1)}set mediaPlaybackRate(e){w(this,a.MEDIA_PLAYBACK_RATE,e)}get mediaBuffered(){let e=this.getAttribute(a.MEDIA_BUFFERED);return e?e.split(" ").map(r=>r.split(":").map(n=>+n)):[]}set mediaBuffered(e){if(!e){this.removeAttribute(a.MEDIA_BUFFERED);return}let r=e.map(n=>n.join(":")).join(" ");this.setAttribute(a.MEDIA_BUFFERED,r)}get mediaSeekable(){let e=this.getAttribute(a.MEDIA_SEEKABLE);if(e)return e.split(":").map(r=>+r)}set mediaSeekable(e){if(e==null){this.removeAttribute(a.MEDIA_SEEKABLE);return}this.setAttribute(a.MEDIA_SEEKABLE,e.join(":"))}get mediaSeekableEnd(){var r;let[,e=this.mediaDuration]=(r=this.mediaSeekable)!=null?r:[];return e}get mediaSeekableStart(){var r;let[e=0]=(r=this.mediaSeekable)!=null?r:[];return e}get mediaPreviewImage(){return _(this,a.MEDIA_PREVIEW_IMAGE)}set mediaPreviewImage(e){k(this,a.MEDIA_PREVIEW_IMAGE,e)}get mediaPreviewTime(){return C(this,a.MEDIA_PREVIEW_TIME)}set mediaPreviewTime(e){w(this,a.MEDIA_PREVIEW_TIME,e)}get mediaEnded(){return S(this,a.MEDIA_ENDED)}set mediaEnded(e){M(this,a.MEDIA_ENDED,e)}updateBar(){super.updateBar(),this.updateBufferedBar(),this.updateCurrentBox()}updateBufferedBar(){var o;let e=this.mediaBuffered;if(!e.length)return;let r;if(this.mediaEnded)r=1;else{let l=this.mediaCurrentTime,[,d=this.mediaSeekableStart]=(o=e.find(([m,E])=>m<=l&&l<=E))!=null?o:[];r=jo(this,d)}let{style:n}=$(this.shadowRoot,"#buffered");n.setProperty("width",`${r*100}%`)}updateCurrentBox(){if(!this.shadowRoot.querySelector('slot[name="current"]').assignedElements().length)return;let r=$(this.shadowRoot,"#current-rail"),n=$(this.shadowRoot,'[part~="current-box"]'),o=p(this,cn,na).call(this,s(this,un)),l=p(this,mn,oa).call(this,o,this.range.valueAsNumber),d=p(this,hn,sa).call(this,o,this.range.valueAsNumber);r.style.transform=`translateX(${l})`,r.style.setProperty("--_range-width",`${o.range.width}`),n.style.setProperty("--_box-shift",`${d}`),n.style.setProperty("--_box-width",`${o.box.width}px`),n.style.setProperty("visibility","initial")}handleEvent(e){switch(super.handleEvent(e),e.type){case"input":p(this,Jo,Jd).call(this);break;case"pointermove":p(this,Xo,Xd).call(this,e);break;case"pointerup":s(this,Ot)&&h(this,Ot,!1);break;case"pointerdown":h(this,Ot,!0);break;case"pointerleave":p(this,Ki,Qo).call(this,null);break;case"transitionstart":z(e.target,this)&&setTimeout(()=>s(this,Vi).call(this),0);break}}};Dt=new WeakMap,$e=new WeakMap,ln=new WeakMap,Fi=new WeakMap,dn=new WeakMap,un=new WeakMap,Bi=new WeakMap,$i=new WeakMap,wt=new WeakMap,Ot=new WeakMap,Vi=new WeakMap,zo=new WeakSet,Zd=function(){return this.isConnected&&!this.mediaPaused&&!this.mediaLoading&&!this.mediaEnded&&this.mediaSeekableEnd>0&&ho(this)},Zo=new WeakMap,cn=new WeakSet,na=function(e){var E;let n=((E=this.getAttribute("bounds")?Ie(this,`#${this.getAttribute("bounds")}`):this.parentElement)!=null?E:this).getBoundingClientRect(),o=this.range.getBoundingClientRect(),l=e.offsetWidth,d=-(o.left-n.left-l/2),m=n.right-o.left-l/2;return{box:{width:l,min:d,max:m},bounds:n,range:o}},mn=new WeakSet,oa=function(e,r){let n=`${r*100}%`,{width:o,min:l,max:d}=e.box;if(!o)return n;if(Number.isNaN(l)||(n=`max(${`calc(1 / var(--_range-width) * 100 * ${l}% + var(--media-box-padding-left))`}, ${n})`),!Number.isNaN(d)){let E=`calc(1 / var(--_range-width) * 100 * ${d}% - var(--media-box-padding-right))`;n=`min(${n}, ${E})`}return n},hn=new WeakSet,sa=function(e,r){let{width:n,min:o,max:l}=e.box,d=r*e.range.width;if(d<o+s(this,Bi)){let m=e.range.left-e.bounds.left-s(this,Bi);return`${d-n/2+m}px`}if(d>l-s(this,$i)){let m=e.bounds.right-e.range.right-s(this,$i);return`${d+n/2-m-e.range.width}px`}return 0},Xo=new WeakSet,Xd=function(e){let r=[...s(this,ln)].some(T=>e.composedPath().includes(T));if(!this.dragging&&(r||!e.composedPath().includes(this))){p(this,Ki,Qo).call(this,null);return}let n=this.mediaSeekableEnd;if(!n)return;let o=$(this.shadowRoot,"#preview-rail"),l=$(this.shadowRoot,'[part~="preview-box"]'),d=p(this,cn,na).call(this,s(this,dn)),m=(e.clientX-d.range.left)/d.range.width;m=Math.max(0,Math.min(1,m));let E=p(this,mn,oa).call(this,d,m),v=p(this,hn,sa).call(this,d,m);o.style.transform=`translateX(${E})`,o.style.setProperty("--_range-width",`${d.range.width}`),l.style.setProperty("--_box-shift",`${v}`),l.style.setProperty("--_box-width",`${d.box.width}px`);let y=Math.round(s(this,Fi))-Math.round(m*n);Math.abs(y)<1&&m>.01&&m<.99||(h(this,Fi,m*n),p(this,Ki,Qo).call(this,s(this,Fi)))},Ki=new WeakSet,Qo=function(e){this.dispatchEvent(new u.CustomEvent(b.MEDIA_PREVIEW_REQUEST,{composed:!0,bubbles:!0,detail:e}))},Jo=new WeakSet,Jd=function(){s(this,$e).stop();let e=zd(this);this.dispatchEvent(new u.CustomEvent(b.MEDIA_SEEK_REQUEST,{composed:!0,bubbles:!0,detail:e}))},Ni.shadowRootOptions={mode:"open"},Ni.getContainerTemplateHTML=Zm;u.customElements.get("media-time-range")||u.customElements.define("media-time-range",Ni);var eu=Ni;var Xm=1,Jm=t=>t.mediaMuted?0:t.mediaVolume,eh=t=>`${Math.round(t*100)}%`,pn,es=class extends pe{constructor(){super(...arguments);c(this,pn,()=>{let e=this.range.value,r=new u.CustomEvent(b.MEDIA_VOLUME_REQUEST,{composed:!0,bubbles:!0,detail:e});this.dispatchEvent(r)})}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_VOLUME,a.MEDIA_MUTED,a.MEDIA_VOLUME_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),this.range.setAttribute("aria-label",g("volume")),this.range.addEventListener("input",s(this,pn))}disconnectedCallback(){this.range.removeEventListener("input",s(this,pn)),super.disconnectedCallback()}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),(e===a.MEDIA_VOLUME||e===a.MEDIA_MUTED)&&(this.range.valueAsNumber=Jm(this),this.range.setAttribute("aria-valuetext",eh(this.range.valueAsNumber)),this.updateBar())}get mediaVolume(){return C(this,a.MEDIA_VOLUME,Xm)}set mediaVolume(e){w(this,a.MEDIA_VOLUME,e)}get mediaMuted(){return S(this,a.MEDIA_MUTED)}set mediaMuted(e){M(this,a.MEDIA_MUTED,e)}get mediaVolumeUnavailable(){return _(this,a.MEDIA_VOLUME_UNAVAILABLE)}set mediaVolumeUnavailable(e){k(this,a.MEDIA_VOLUME_UNAVAILABLE,e)}};pn=new WeakMap;u.customElements.get("media-volume-range")||u.customElements.define("media-volume-range",es);var tu=es;function th(t){return`
      <style>
        :host {
          min-width: 4ch;
          padding: var(--media-button-padding, var(--media-control-padding, 10px 5px));
          width: 100%;
          display: grid;
          grid-template-columns: 1fr auto;
          gap: 1rem;
          font-weight: var(--media-button-font-weight, normal);
        }

        #checked-indicator {
          display: none;
        }

        :host([${a.MEDIA_LOOP}]) #checked-indicator {
          display: block;
        }
      </style>
      
      <span id="icon">
     </span>

      <div id="checked-indicator">
        <svg aria-hidden="true" viewBox="0 1 24 24" part="checked-indicator indicator">
          <path d="m10 15.17 9.193-9.191 1.414 1.414-10.606 10.606-6.364-6.364 1.414-1.414 4.95 4.95Z"/>
        </svg>
      </div>
    `}function ih(){return g("Loop")}var Gi=class extends U{constructor(){super(...arguments);this.container=null}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_LOOP]}connectedCallback(){var e;super.connectedCallback(),this.container=((e=this.shadowRoot)==null?void 0:e.querySelector("#icon"))||null,this.container&&(this.container.textContent=g("Loop"))}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_LOOP&&this.container&&this.setAttribute("aria-checked",this.mediaLoop?"true":"false")}get mediaLoop(){return S(this,a.MEDIA_LOOP)}set mediaLoop(e){M(this,a.MEDIA_LOOP,e)}handleClick(){let e=!this.mediaLoop,r=new u.CustomEvent(b.MEDIA_LOOP_REQUEST,{composed:!0,bubbles:!0,detail:e});this.dispatchEvent(r)}};Gi.getSlotTemplateHTML=th,Gi.getTooltipContentHTML=ih;u.customElements.get("media-loop-button")||u.customElements.define("media-loop-button",Gi);var iu=Gi;function ru({anchor:t,floating:i,placement:e}){let r=rh({anchor:t,floating:i}),{x:n,y:o}=oh(r,e);return{x:n,y:o}}function rh({anchor:t,floating:i}){return{anchor:nh(t,i.offsetParent),floating:{x:0,y:0,width:i.offsetWidth,height:i.offsetHeight}}}function nh(t,i){var n;let e=t.getBoundingClientRect(),r=(n=i==null?void 0:i.getBoundingClientRect())!=null?n:{x:0,y:0};return{x:e.x-r.x,y:e.y-r.y,width:e.width,height:e.height}}function oh({anchor:t,floating:i},e){let r=sh(e)==="x"?"y":"x",n=r==="y"?"height":"width",o=nu(e),l=t.x+t.width/2-i.width/2,d=t.y+t.height/2-i.height/2,m=t[n]/2-i[n]/2,E;switch(o){case"top":E={x:l,y:t.y-i.height};break;case"bottom":E={x:l,y:t.y+t.height};break;case"right":E={x:t.x+t.width,y:d};break;case"left":E={x:t.x-i.width,y:d};break;default:E={x:t.x,y:t.y}}switch(e.split("-")[1]){case"start":E[r]-=m;break;case"end":E[r]+=m;break}return E}function nu(t){return t.split("-")[0]}function sh(t){return["top","bottom"].includes(nu(t))?"y":"x"}var rt=class extends Event{constructor({action:i="auto",relatedTarget:e,...r}){super("invoke",r),this.action=i,this.relatedTarget=e}},ts=class extends Event{constructor({newState:i,oldState:e,...r}){super("toggle",r),this.newState=i,this.oldState=e}};function Ce({type:t,text:i,value:e,checked:r}){let n=F.createElement("media-chrome-menu-item");n.type=t!=null?t:"",n.part.add("menu-item"),t&&n.part.add(t),n.value=e,n.checked=r;let o=F.createElement("span");return o.textContent=i,n.append(o),n}function Ae(t,i){let e=t.querySelector(`:scope > [slot="${i}"]`);if((e==null?void 0:e.nodeName)=="SLOT"&&(e=e.assignedElements({flatten:!0})[0]),e)return e=e.cloneNode(!0),e;let r=t.shadowRoot.querySelector(`[name="${i}"] > svg`);return r?r.cloneNode(!0):""}function ah(t){return`
    <style>
      :host {
        font: var(--media-font,
          var(--media-font-weight, normal)
          var(--media-font-size, 14px) /
          var(--media-text-content-height, var(--media-control-height, 24px))
          var(--media-font-family, helvetica neue, segoe ui, roboto, arial, sans-serif));
        color: var(--media-text-color, var(--media-primary-color, rgb(238 238 238)));
        --_menu-bg: rgb(20 20 30 / .8);
        background: var(--media-menu-background, var(--media-control-background, var(--media-secondary-color, var(--_menu-bg))));
        border-radius: var(--media-menu-border-radius);
        border: var(--media-menu-border, none);
        display: var(--media-menu-display, inline-flex) !important;
        
        transition: var(--media-menu-transition-in,
          visibility 0s,
          opacity .2s ease-out,
          transform .15s ease-out,
          left .2s ease-in-out,
          min-width .2s ease-in-out,
          min-height .2s ease-in-out
        ) !important;
        
        visibility: var(--media-menu-visibility, visible);
        opacity: var(--media-menu-opacity, 1);
        max-height: var(--media-menu-max-height, var(--_menu-max-height, 300px));
        transform: var(--media-menu-transform-in, translateY(0) scale(1));
        flex-direction: column;
        
        min-height: 0;
        position: relative;
        bottom: var(--_menu-bottom);
        box-sizing: border-box;
      } 

      @-moz-document url-prefix() {
        :host{
          --_menu-bg: rgb(20 20 30);
        }
      }

      :host([hidden]) {
        transition: var(--media-menu-transition-out,
          visibility .15s ease-in,
          opacity .15s ease-in,
          transform .15s ease-in
        ) !important;
        visibility: var(--media-menu-hidden-visibility, hidden);
        opacity: var(--media-menu-hidden-opacity, 0);
        max-height: var(--media-menu-hidden-max-height,
          var(--media-menu-max-height, var(--_menu-max-height, 300px)));
        transform: var(--media-menu-transform-out, translateY(2px) scale(.99));
        pointer-events: none;
      }

      :host([slot="submenu"]) {
        background: none;
        width: 100%;
        min-height: 100%;
        position: absolute;
        bottom: 0;
        right: -100%;
      }

      #container {
        display: flex;
        flex-direction: column;
        min-height: 0;
        transition: transform .2s ease-out;
        transform: translate(0, 0);
      }

      #container.has-expanded {
        transition: transform .2s ease-in;
        transform: translate(-100%, 0);
      }

      button {
        background: none;
        color: inherit;
        border: none;
        padding: 0;
        font: inherit;
        outline: inherit;
        display: inline-flex;
        align-items: center;
      }

      slot[name="header"][hidden] {
        display: none;
      }

      slot[name="header"] > *,
      slot[name="header"]::slotted(*) {
        padding: .4em .7em;
        border-bottom: 1px solid rgb(255 255 255 / .25);
        cursor: var(--media-cursor, default);
      }

      slot[name="header"] > button[part~="back"],
      slot[name="header"]::slotted(button[part~="back"]) {
        cursor: var(--media-cursor, pointer);
      }

      svg[part~="back"] {
        height: var(--media-menu-icon-height, var(--media-control-height, 24px));
        fill: var(--media-icon-color, var(--media-primary-color, rgb(238 238 238)));
        display: block;
        margin-right: .5ch;
      }

      slot:not([name]) {
        gap: var(--media-menu-gap);
        flex-direction: var(--media-menu-flex-direction, column);
        overflow: var(--media-menu-overflow, hidden auto);
        display: flex;
        min-height: 0;
      }

      :host([role="menu"]) slot:not([name]) {
        padding-block: .4em;
      }

      slot:not([name])::slotted([role="menu"]) {
        background: none;
      }

      media-chrome-menu-item > span {
        margin-right: .5ch;
        max-width: var(--media-menu-item-max-width);
        text-overflow: ellipsis;
        overflow: hidden;
      }
    </style>
    <style id="layout-row" media="width:0">

      slot[name="header"] > *,
      slot[name="header"]::slotted(*) {
        padding: .4em .5em;
      }

      slot:not([name]) {
        gap: var(--media-menu-gap, .25em);
        flex-direction: var(--media-menu-flex-direction, row);
        padding-inline: .5em;
      }

      media-chrome-menu-item {
        padding: .3em .5em;
      }

      media-chrome-menu-item[aria-checked="true"] {
        background: var(--media-menu-item-checked-background, rgb(255 255 255 / .2));
      }

      
      media-chrome-menu-item::part(checked-indicator) {
        display: var(--media-menu-item-checked-indicator-display, none);
      }
    </style>
    <div id="container" part="container">
      <slot name="header" hidden>
        <button part="back button" aria-label="Back to previous menu">
          <slot name="back-icon">
            <svg aria-hidden="true" viewBox="0 0 20 24" part="back indicator">
              <path d="m11.88 17.585.742-.669-4.2-4.665 4.2-4.666-.743-.669-4.803 5.335 4.803 5.334Z"/>
            </svg>
          </slot>
          <slot name="title"></slot>
        </button>
      </slot>
      <slot></slot>
    </div>
    <slot name="checked-indicator" hidden></slot>
  `}var Pt={STYLE:"style",HIDDEN:"hidden",DISABLED:"disabled",ANCHOR:"anchor"},Te,Ve,xe,bn,qi,nt,Wi,ns,ou,fn,aa,vn,Tn,la,os,su,ss,au,as,lu,Ut,Ht,Nt,gn,An,da,ls,du,ds,uu,us,cu,cs,mu,ms,hu,hs,pu,Yi,is,ps,Eu,ji,rs,yn,ua,G=class extends u.HTMLElement{constructor(){super();c(this,ns);c(this,fn);c(this,Tn);c(this,os);c(this,ss);c(this,as);c(this,Nt);c(this,An);c(this,ls);c(this,ds);c(this,us);c(this,cs);c(this,ms);c(this,hs);c(this,Yi);c(this,ps);c(this,ji);c(this,yn);c(this,Te,null);c(this,Ve,null);c(this,xe,null);c(this,bn,new Set);c(this,qi,void 0);c(this,nt,!1);c(this,Wi,null);c(this,vn,()=>{let e=s(this,bn),r=new Set(this.items);for(let n of e)r.has(n)||this.dispatchEvent(new CustomEvent("removemenuitem",{detail:n}));for(let n of r)e.has(n)||this.dispatchEvent(new CustomEvent("addmenuitem",{detail:n}));h(this,bn,r)});c(this,Ut,()=>{p(this,Nt,gn).call(this),p(this,An,da).call(this,!1)});c(this,Ht,()=>{p(this,Nt,gn).call(this)});if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}this.container=this.shadowRoot.querySelector("#container"),this.defaultSlot=this.shadowRoot.querySelector("slot:not([name])"),h(this,qi,new MutationObserver(s(this,vn)))}static get observedAttributes(){return[Pt.DISABLED,Pt.HIDDEN,Pt.STYLE,Pt.ANCHOR,x.MEDIA_CONTROLLER]}static formatMenuItemText(e,r){return e}enable(){this.addEventListener("click",this),this.addEventListener("focusout",this),this.addEventListener("keydown",this),this.addEventListener("invoke",this),this.addEventListener("toggle",this)}disable(){this.removeEventListener("click",this),this.removeEventListener("focusout",this),this.removeEventListener("keyup",this),this.removeEventListener("invoke",this),this.removeEventListener("toggle",this)}handleEvent(e){switch(e.type){case"slotchange":p(this,ns,ou).call(this,e);break;case"invoke":p(this,os,su).call(this,e);break;case"click":p(this,ls,du).call(this,e);break;case"toggle":p(this,us,cu).call(this,e);break;case"focusout":p(this,ms,hu).call(this,e);break;case"keydown":p(this,hs,pu).call(this,e);break}}connectedCallback(){var e,r;s(this,qi).observe(this.defaultSlot,{childList:!0}),h(this,Wi,Er(this.shadowRoot,":host")),p(this,Tn,la).call(this),this.hasAttribute("disabled")||this.enable(),this.role||(this.role="menu"),h(this,Te,uo(this)),(r=(e=s(this,Te))==null?void 0:e.associateElement)==null||r.call(e,this),this.hidden||(Pe(En(this),s(this,Ut)),Pe(this,s(this,Ht))),p(this,fn,aa).call(this),this.shadowRoot.addEventListener("slotchange",this)}disconnectedCallback(){var e,r;s(this,qi).disconnect(),Ue(En(this),s(this,Ut)),Ue(this,s(this,Ht)),this.disable(),(r=(e=s(this,Te))==null?void 0:e.unassociateElement)==null||r.call(e,this),h(this,Te,null),h(this,Ve,null),h(this,xe,null),this.shadowRoot.removeEventListener("slotchange",this)}attributeChangedCallback(e,r,n){var o,l,d,m;e===Pt.HIDDEN&&n!==r?(s(this,nt)||h(this,nt,!0),this.hidden?p(this,as,lu).call(this):p(this,ss,au).call(this),this.dispatchEvent(new ts({oldState:this.hidden?"open":"closed",newState:this.hidden?"closed":"open",bubbles:!0}))):e===x.MEDIA_CONTROLLER?(r&&((l=(o=s(this,Te))==null?void 0:o.unassociateElement)==null||l.call(o,this),h(this,Te,null)),n&&this.isConnected&&(h(this,Te,uo(this)),(m=(d=s(this,Te))==null?void 0:d.associateElement)==null||m.call(d,this))):e===Pt.DISABLED&&n!==r?n==null?this.enable():this.disable():e===Pt.STYLE&&n!==r&&p(this,Tn,la).call(this)}formatMenuItemText(e,r){return this.constructor.formatMenuItemText(e,r)}get anchor(){return this.getAttribute("anchor")}set anchor(e){this.setAttribute("anchor",`${e}`)}get anchorElement(){var e;return this.anchor?(e=ct(this))==null?void 0:e.querySelector(`#${this.anchor}`):null}get items(){return this.defaultSlot.assignedElements({flatten:!0}).filter(lh)}get radioGroupItems(){return this.items.filter(e=>e.role==="menuitemradio")}get checkedItems(){return this.items.filter(e=>e.checked)}get value(){var e,r;return(r=(e=this.checkedItems[0])==null?void 0:e.value)!=null?r:""}set value(e){let r=this.items.find(n=>n.value===e);r&&p(this,yn,ua).call(this,r)}focus(){if(h(this,Ve,pr()),this.items.length){p(this,ji,rs).call(this,this.items[0]),this.items[0].focus();return}let e=this.querySelector('[autofocus], [tabindex]:not([tabindex="-1"]), [role="menu"]');e==null||e.focus()}handleSelect(e){var n;let r=p(this,Yi,is).call(this,e);r&&(p(this,yn,ua).call(this,r,r.type==="checkbox"),s(this,xe)&&!this.hidden&&((n=s(this,Ve))==null||n.focus(),this.hidden=!0))}get keysUsed(){return["Enter","Escape","Tab"," ","ArrowDown","ArrowUp","Home","End"]}handleMove(e){var m,E;let{key:r}=e,n=this.items,o=(E=(m=p(this,Yi,is).call(this,e))!=null?m:p(this,ps,Eu).call(this))!=null?E:n[0],l=n.indexOf(o),d=Math.max(0,l);r==="ArrowDown"?d++:r==="ArrowUp"?d--:e.key==="Home"?d=0:e.key==="End"&&(d=n.length-1),d<0&&(d=n.length-1),d>n.length-1&&(d=0),p(this,ji,rs).call(this,n[d]),n[d].focus()}};Te=new WeakMap,Ve=new WeakMap,xe=new WeakMap,bn=new WeakMap,qi=new WeakMap,nt=new WeakMap,Wi=new WeakMap,ns=new WeakSet,ou=function(e){let r=e.target;for(let n of r.assignedNodes({flatten:!0}))n.nodeType===3&&n.textContent.trim()===""&&n.remove();["header","title"].includes(r.name)&&p(this,fn,aa).call(this),r.name||s(this,vn).call(this)},fn=new WeakSet,aa=function(){let e=this.shadowRoot.querySelector('slot[name="header"]'),r=this.shadowRoot.querySelector('slot[name="title"]');e.hidden=r.assignedNodes().length===0&&e.assignedNodes().length===0},vn=new WeakMap,Tn=new WeakSet,la=function(){var n;let e=this.shadowRoot.querySelector("#layout-row"),r=(n=getComputedStyle(this).getPropertyValue("--media-menu-layout"))==null?void 0:n.trim();e.setAttribute("media",r==="row"?"":"width:0")},os=new WeakSet,su=function(e){h(this,xe,e.relatedTarget),z(this,e.relatedTarget)||(this.hidden=!this.hidden)},ss=new WeakSet,au=function(){var e;(e=s(this,xe))==null||e.setAttribute("aria-expanded","true"),this.addEventListener("transitionend",()=>this.focus(),{once:!0}),Pe(En(this),s(this,Ut)),Pe(this,s(this,Ht))},as=new WeakSet,lu=function(){var e;(e=s(this,xe))==null||e.setAttribute("aria-expanded","false"),Ue(En(this),s(this,Ut)),Ue(this,s(this,Ht))},Ut=new WeakMap,Ht=new WeakMap,Nt=new WeakSet,gn=function(e){if(this.hasAttribute("mediacontroller")&&!this.anchor||this.hidden||!this.anchorElement)return;let{x:r,y:n}=ru({anchor:this.anchorElement,floating:this,placement:"top-start"});e!=null||(e=this.offsetWidth);let l=En(this).getBoundingClientRect(),d=l.width-r-e,m=l.height-n-this.offsetHeight,{style:E}=s(this,Wi);E.setProperty("position","absolute"),E.setProperty("right",`${Math.max(0,d)}px`),E.setProperty("--_menu-bottom",`${m}px`);let v=getComputedStyle(this),T=E.getPropertyValue("--_menu-bottom")===v.bottom?m:parseFloat(v.bottom),A=l.height-T-parseFloat(v.marginBottom);this.style.setProperty("--_menu-max-height",`${A}px`)},An=new WeakSet,da=function(e){let r=this.querySelector('[role="menuitem"][aria-haspopup][aria-expanded="true"]'),n=r==null?void 0:r.querySelector('[role="menu"]'),{style:o}=s(this,Wi);if(e||o.setProperty("--media-menu-transition-in","none"),n){let l=n.offsetHeight,d=Math.max(n.offsetWidth,r.offsetWidth);this.style.setProperty("min-width",`${d}px`),this.style.setProperty("min-height",`${l}px`),p(this,Nt,gn).call(this,d)}else this.style.removeProperty("min-width"),this.style.removeProperty("min-height"),p(this,Nt,gn).call(this);o.removeProperty("--media-menu-transition-in")},ls=new WeakSet,du=function(e){var n;if(e.stopPropagation(),e.composedPath().includes(s(this,ds,uu))){(n=s(this,Ve))==null||n.focus(),this.hidden=!0;return}let r=p(this,Yi,is).call(this,e);!r||r.hasAttribute("disabled")||(p(this,ji,rs).call(this,r),this.handleSelect(e))},ds=new WeakSet,uu=function(){var r;return(r=this.shadowRoot.querySelector('slot[name="header"]').assignedElements({flatten:!0}))==null?void 0:r.find(n=>n.matches('button[part~="back"]'))},us=new WeakSet,cu=function(e){if(e.target===this)return;p(this,cs,mu).call(this);let r=Array.from(this.querySelectorAll('[role="menuitem"][aria-haspopup]'));for(let n of r)n.invokeTargetElement!=e.target&&e.newState=="open"&&n.getAttribute("aria-expanded")=="true"&&!n.invokeTargetElement.hidden&&n.invokeTargetElement.dispatchEvent(new rt({relatedTarget:n}));for(let n of r)n.setAttribute("aria-expanded",`${!n.submenuElement.hidden}`);p(this,An,da).call(this,!0)},cs=new WeakSet,mu=function(){let r=this.querySelector('[role="menuitem"] > [role="menu"]:not([hidden])');this.container.classList.toggle("has-expanded",!!r)},ms=new WeakSet,hu=function(e){var r;z(this,e.relatedTarget)||(s(this,nt)&&((r=s(this,Ve))==null||r.focus()),s(this,xe)&&s(this,xe)!==e.relatedTarget&&!this.hidden&&(this.hidden=!0))},hs=new WeakSet,pu=function(e){var d,m,E,v,y;let{key:r,ctrlKey:n,altKey:o,metaKey:l}=e;if(!(n||o||l)&&this.keysUsed.includes(r))if(e.preventDefault(),e.stopPropagation(),r==="Tab"){if(s(this,nt)){this.hidden=!0;return}e.shiftKey?(m=(d=this.previousElementSibling)==null?void 0:d.focus)==null||m.call(d):(v=(E=this.nextElementSibling)==null?void 0:E.focus)==null||v.call(E),this.blur()}else r==="Escape"?((y=s(this,Ve))==null||y.focus(),s(this,nt)&&(this.hidden=!0)):r==="Enter"||r===" "?this.handleSelect(e):this.handleMove(e)},Yi=new WeakSet,is=function(e){return e.composedPath().find(r=>["menuitemradio","menuitemcheckbox"].includes(r.role))},ps=new WeakSet,Eu=function(){return this.items.find(e=>e.tabIndex===0)},ji=new WeakSet,rs=function(e){for(let r of this.items)r.tabIndex=r===e?0:-1},yn=new WeakSet,ua=function(e,r){let n=[...this.checkedItems];e.type==="radio"&&this.radioGroupItems.forEach(o=>o.checked=!1),r?e.checked=!e.checked:e.checked=!0,this.checkedItems.some((o,l)=>o!=n[l])&&this.dispatchEvent(new Event("change",{bubbles:!0,composed:!0}))},G.shadowRootOptions={mode:"open"},G.getTemplateHTML=ah;function lh(t){return["menuitem","menuitemradio","menuitemcheckbox"].includes(t==null?void 0:t.role)}function En(t){var i;return(i=t.getAttribute("bounds")?Ie(t,`#${t.getAttribute("bounds")}`):B(t)||t.parentElement)!=null?i:t}u.customElements.get("media-chrome-menu")||u.customElements.define("media-chrome-menu",G);function dh(t){return`
    <style>
      :host {
        transition: var(--media-menu-item-transition,
          background .15s linear,
          opacity .2s ease-in-out
        );
        outline: var(--media-menu-item-outline, 0);
        outline-offset: var(--media-menu-item-outline-offset, -1px);
        cursor: var(--media-cursor, pointer);
        display: flex;
        align-items: center;
        align-self: stretch;
        justify-self: stretch;
        white-space: nowrap;
        white-space-collapse: collapse;
        text-wrap: nowrap;
        padding: .4em .8em .4em 1em;
      }

      :host(:focus-visible) {
        box-shadow: var(--media-menu-item-focus-shadow, inset 0 0 0 2px rgb(27 127 204 / .9));
        outline: var(--media-menu-item-hover-outline, 0);
        outline-offset: var(--media-menu-item-hover-outline-offset,  var(--media-menu-item-outline-offset, -1px));
      }

      :host(:hover) {
        cursor: var(--media-cursor, pointer);
        background: var(--media-menu-item-hover-background, rgb(92 92 102 / .5));
        outline: var(--media-menu-item-hover-outline);
        outline-offset: var(--media-menu-item-hover-outline-offset,  var(--media-menu-item-outline-offset, -1px));
      }

      :host([aria-checked="true"]) {
        background: var(--media-menu-item-checked-background);
      }

      :host([hidden]) {
        display: none;
      }

      :host([disabled]) {
        pointer-events: none;
        color: rgba(255, 255, 255, .3);
      }

      slot:not([name]) {
        width: 100%;
      }

      slot:not([name="submenu"]) {
        display: inline-flex;
        align-items: center;
        transition: inherit;
        opacity: var(--media-menu-item-opacity, 1);
      }

      slot[name="description"] {
        justify-content: end;
      }

      slot[name="description"] > span {
        display: inline-block;
        margin-inline: 1em .2em;
        max-width: var(--media-menu-item-description-max-width, 100px);
        text-overflow: ellipsis;
        overflow: hidden;
        font-size: .8em;
        font-weight: 400;
        text-align: right;
        position: relative;
        top: .04em;
      }

      slot[name="checked-indicator"] {
        display: none;
      }

      :host(:is([role="menuitemradio"],[role="menuitemcheckbox"])) slot[name="checked-indicator"] {
        display: var(--media-menu-item-checked-indicator-display, inline-block);
      }

      
      svg, img, ::slotted(svg), ::slotted(img) {
        height: var(--media-menu-item-icon-height, var(--media-control-height, 24px));
        fill: var(--media-icon-color, var(--media-primary-color, rgb(238 238 238)));
        display: block;
      }

      
      [part~="indicator"],
      ::slotted([part~="indicator"]) {
        fill: var(--media-menu-item-indicator-fill,
          var(--media-icon-color, var(--media-primary-color, rgb(238 238 238))));
        height: var(--media-menu-item-indicator-height, 1.25em);
        margin-right: .5ch;
      }

      [part~="checked-indicator"] {
        visibility: hidden;
      }

      :host([aria-checked="true"]) [part~="checked-indicator"] {
        visibility: visible;
      }
    </style>
    <slot name="checked-indicator">
      <svg aria-hidden="true" viewBox="0 1 24 24" part="checked-indicator indicator">
        <path d="m10 15.17 9.193-9.191 1.414 1.414-10.606 10.606-6.364-6.364 1.414-1.414 4.95 4.95Z"/>
      </svg>
    </slot>
    <slot name="prefix"></slot>
    <slot></slot>
    <slot name="description"></slot>
    <slot name="suffix">
      ${this.getSuffixSlotInnerHTML(t)}
    </slot>
    <slot name="submenu"></slot>
  `}function uh(t){return""}var oe={TYPE:"type",VALUE:"value",CHECKED:"checked",DISABLED:"disabled"},Mn,Qi,Es,gu,In,ca,gs,bu,ye,Ft,bs,Ln,ma,te=class extends u.HTMLElement{constructor(){super();c(this,Es);c(this,In);c(this,gs);c(this,Ln);c(this,Mn,!1);c(this,Qi,void 0);c(this,ye,()=>{var l,d;this.submenuElement.items&&this.setAttribute("submenusize",`${this.submenuElement.items.length}`);let e=this.shadowRoot.querySelector('slot[name="description"]'),r=(l=this.submenuElement.checkedItems)==null?void 0:l[0],n=(d=r==null?void 0:r.dataset.description)!=null?d:r==null?void 0:r.text,o=F.createElement("span");o.textContent=n!=null?n:"",e.replaceChildren(o)});c(this,Ft,e=>{let{key:r}=e;if(!this.keysUsed.includes(r)){this.removeEventListener("keyup",s(this,Ft));return}this.handleClick(e)});c(this,bs,e=>{let{metaKey:r,altKey:n,key:o}=e;if(r||n||!this.keysUsed.includes(o)){this.removeEventListener("keyup",s(this,Ft));return}this.addEventListener("keyup",s(this,Ft),{once:!0})});if(!this.shadowRoot){this.attachShadow(this.constructor.shadowRootOptions);let e=V(this.attributes);this.shadowRoot.innerHTML=this.constructor.getTemplateHTML(e)}}static get observedAttributes(){return[oe.TYPE,oe.DISABLED,oe.CHECKED,oe.VALUE]}enable(){this.hasAttribute("tabindex")||this.setAttribute("tabindex","-1"),Sn(this)&&!this.hasAttribute("aria-checked")&&this.setAttribute("aria-checked","false"),this.addEventListener("click",this),this.addEventListener("keydown",this)}disable(){this.removeAttribute("tabindex"),this.removeEventListener("click",this),this.removeEventListener("keydown",this),this.removeEventListener("keyup",this)}handleEvent(e){switch(e.type){case"slotchange":p(this,Es,gu).call(this,e);break;case"click":this.handleClick(e);break;case"keydown":s(this,bs).call(this,e);break;case"keyup":s(this,Ft).call(this,e);break}}attributeChangedCallback(e,r,n){e===oe.CHECKED&&Sn(this)&&!s(this,Mn)?this.setAttribute("aria-checked",n!=null?"true":"false"):e===oe.TYPE&&n!==r?this.role="menuitem"+n:e===oe.DISABLED&&n!==r&&(n==null?this.enable():this.disable())}connectedCallback(){this.hasAttribute(oe.DISABLED)||this.enable(),this.role="menuitem"+this.type,h(this,Qi,ha(this,this.parentNode)),p(this,Ln,ma).call(this),this.submenuElement&&p(this,In,ca).call(this),this.shadowRoot.addEventListener("slotchange",this)}disconnectedCallback(){this.disable(),p(this,Ln,ma).call(this),h(this,Qi,null),this.shadowRoot.removeEventListener("slotchange",this)}get invokeTarget(){return this.getAttribute("invoketarget")}set invokeTarget(e){this.setAttribute("invoketarget",`${e}`)}get invokeTargetElement(){var e;return this.invokeTarget?(e=ct(this))==null?void 0:e.querySelector(`#${this.invokeTarget}`):this.submenuElement}get submenuElement(){return this.shadowRoot.querySelector('slot[name="submenu"]').assignedElements({flatten:!0})[0]}get type(){var e;return(e=this.getAttribute(oe.TYPE))!=null?e:""}set type(e){this.setAttribute(oe.TYPE,`${e}`)}get value(){var e;return(e=this.getAttribute(oe.VALUE))!=null?e:this.text}set value(e){this.setAttribute(oe.VALUE,e)}get text(){var e;return((e=this.textContent)!=null?e:"").trim()}get checked(){if(Sn(this))return this.getAttribute("aria-checked")==="true"}set checked(e){Sn(this)&&(h(this,Mn,!0),this.setAttribute("aria-checked",e?"true":"false"),e?this.part.add("checked"):this.part.remove("checked"))}handleClick(e){Sn(this)||this.invokeTargetElement&&z(this,e.target)&&this.invokeTargetElement.dispatchEvent(new rt({relatedTarget:this}))}get keysUsed(){return["Enter"," "]}};Mn=new WeakMap,Qi=new WeakMap,Es=new WeakSet,gu=function(e){let r=e.target;if(!(r!=null&&r.name))for(let o of r.assignedNodes({flatten:!0}))o instanceof Text&&o.textContent.trim()===""&&o.remove();r.name==="submenu"&&(this.submenuElement?p(this,In,ca).call(this):p(this,gs,bu).call(this))},In=new WeakSet,ca=async function(){this.setAttribute("aria-haspopup","menu"),this.setAttribute("aria-expanded",`${!this.submenuElement.hidden}`),this.submenuElement.addEventListener("change",s(this,ye)),this.submenuElement.addEventListener("addmenuitem",s(this,ye)),this.submenuElement.addEventListener("removemenuitem",s(this,ye)),s(this,ye).call(this)},gs=new WeakSet,bu=function(){this.removeAttribute("aria-haspopup"),this.removeAttribute("aria-expanded"),this.submenuElement.removeEventListener("change",s(this,ye)),this.submenuElement.removeEventListener("addmenuitem",s(this,ye)),this.submenuElement.removeEventListener("removemenuitem",s(this,ye)),s(this,ye).call(this)},ye=new WeakMap,Ft=new WeakMap,bs=new WeakMap,Ln=new WeakSet,ma=function(){var n;let e=(n=s(this,Qi))==null?void 0:n.radioGroupItems;if(!e)return;let r=e.filter(o=>o.getAttribute("aria-checked")==="true").pop();r||(r=e[0]);for(let o of e)o.setAttribute("aria-checked","false");r==null||r.setAttribute("aria-checked","true")},te.shadowRootOptions={mode:"open"},te.getTemplateHTML=dh,te.getSuffixSlotInnerHTML=uh;function Sn(t){return t.type==="radio"||t.type==="checkbox"}function ha(t,i){if(!t)return null;let{host:e}=t.getRootNode();return!i&&e?ha(t,e):i!=null&&i.items?i:ha(i,i==null?void 0:i.parentNode)}u.customElements.get("media-chrome-menu-item")||u.customElements.define("media-chrome-menu-item",te);function ch(t){return`
    ${G.getTemplateHTML(t)}
    <style>
      :host {
        --_menu-bg: rgb(20 20 30 / .8);
        background: var(--media-settings-menu-background,
            var(--media-menu-background,
              var(--media-control-background,
                var(--media-secondary-color, var(--_menu-bg)))));
        min-width: var(--media-settings-menu-min-width, 170px);
        border-radius: 2px 2px 0 0;
        overflow: hidden;
      }

      @-moz-document url-prefix() {
        :host{
          --_menu-bg: rgb(20 20 30);
        }
      }

      :host([role="menu"]) {
        
        justify-content: end;
      }

      slot:not([name]) {
        justify-content: var(--media-settings-menu-justify-content);
        flex-direction: var(--media-settings-menu-flex-direction, column);
        overflow: visible;
      }

      #container.has-expanded {
        --media-settings-menu-item-opacity: 0;
      }
    </style>
  `}var zi=class extends G{get anchorElement(){return this.anchor!=="auto"?super.anchorElement:B(this).querySelector("media-settings-menu-button")}};zi.getTemplateHTML=ch;u.customElements.get("media-settings-menu")||u.customElements.define("media-settings-menu",zi);function mh(t){return`
    ${te.getTemplateHTML.call(this,t)}
    <style>
      slot:not([name="submenu"]) {
        opacity: var(--media-settings-menu-item-opacity, var(--media-menu-item-opacity));
      }

      :host([aria-expanded="true"]:hover) {
        background: transparent;
      }
    </style>
  `}function hh(t){return`
    <svg aria-hidden="true" viewBox="0 0 20 24">
      <path d="m8.12 17.585-.742-.669 4.2-4.665-4.2-4.666.743-.669 4.803 5.335-4.803 5.334Z"/>
    </svg>
  `}var ot=class extends te{};ot.shadowRootOptions={mode:"open"},ot.getTemplateHTML=mh,ot.getSuffixSlotInnerHTML=hh;u.customElements.get("media-settings-menu-item")||u.customElements.define("media-settings-menu-item",ot);var X=class extends U{connectedCallback(){super.connectedCallback(),this.invokeTargetElement&&this.setAttribute("aria-haspopup","menu")}get invokeTarget(){return this.getAttribute("invoketarget")}set invokeTarget(i){this.setAttribute("invoketarget",`${i}`)}get invokeTargetElement(){var i;return this.invokeTarget?(i=ct(this))==null?void 0:i.querySelector(`#${this.invokeTarget}`):null}handleClick(){var i;(i=this.invokeTargetElement)==null||i.dispatchEvent(new rt({relatedTarget:this}))}};u.customElements.get("media-chrome-menu-button")||u.customElements.define("media-chrome-menu-button",X);function ph(){return`
    <style>
      :host([aria-expanded="true"]) slot[name=tooltip] {
        display: none;
      }
    </style>
    <slot name="icon">
      <svg aria-hidden="true" viewBox="0 0 24 24">
        <path d="M4.5 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm7.5 0a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm7.5 0a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"/>
      </svg>
    </slot>
  `}function Eh(){return g("Settings")}var Bt=class extends X{static get observedAttributes(){return[...super.observedAttributes,"target"]}connectedCallback(){super.connectedCallback(),this.setAttribute("aria-label",g("settings"))}get invokeTargetElement(){return this.invokeTarget!=null?super.invokeTargetElement:B(this).querySelector("media-settings-menu")}};Bt.getSlotTemplateHTML=ph,Bt.getTooltipContentHTML=Eh;u.customElements.get("media-settings-menu-button")||u.customElements.define("media-settings-menu-button",Bt);var Zi,_n,Rn,pa,xn,Ea,kn=class extends G{constructor(){super(...arguments);c(this,Rn);c(this,xn);c(this,Zi,[]);c(this,_n,void 0)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_AUDIO_TRACK_LIST,a.MEDIA_AUDIO_TRACK_ENABLED,a.MEDIA_AUDIO_TRACK_UNAVAILABLE]}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_AUDIO_TRACK_ENABLED&&r!==n?this.value=n:e===a.MEDIA_AUDIO_TRACK_LIST&&r!==n&&(h(this,Zi,ol(n!=null?n:"")),p(this,Rn,pa).call(this))}connectedCallback(){super.connectedCallback(),this.addEventListener("change",p(this,xn,Ea))}disconnectedCallback(){super.disconnectedCallback(),this.removeEventListener("change",p(this,xn,Ea))}get anchorElement(){var e;return this.anchor!=="auto"?super.anchorElement:(e=B(this))==null?void 0:e.querySelector("media-audio-track-menu-button")}get mediaAudioTrackList(){return s(this,Zi)}set mediaAudioTrackList(e){h(this,Zi,e),p(this,Rn,pa).call(this)}get mediaAudioTrackEnabled(){var e;return(e=_(this,a.MEDIA_AUDIO_TRACK_ENABLED))!=null?e:""}set mediaAudioTrackEnabled(e){k(this,a.MEDIA_AUDIO_TRACK_ENABLED,e)}};Zi=new WeakMap,_n=new WeakMap,Rn=new WeakSet,pa=function(){if(s(this,_n)===JSON.stringify(this.mediaAudioTrackList))return;h(this,_n,JSON.stringify(this.mediaAudioTrackList));let e=this.mediaAudioTrackList;this.defaultSlot.textContent="",e.sort((r,n)=>r.id.localeCompare(n.id,void 0,{numeric:!0}));for(let r of e){let n=this.formatMenuItemText(r.label,r),o=Ce({type:"radio",text:n,value:`${r.id}`,checked:r.enabled});o.prepend(Ae(this,"checked-indicator")),this.defaultSlot.append(o)}},xn=new WeakSet,Ea=function(){if(this.value==null)return;let e=new u.CustomEvent(b.MEDIA_AUDIO_TRACK_REQUEST,{composed:!0,bubbles:!0,detail:this.value});this.dispatchEvent(e)};u.customElements.get("media-audio-track-menu")||u.customElements.define("media-audio-track-menu",kn);var gh=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M11 17H9.5V7H11v10Zm-3-3H6.5v-4H8v4Zm6-5h-1.5v6H14V9Zm3 7h-1.5V8H17v8Z"/>
  <path d="M22 12c0 5.523-4.477 10-10 10S2 17.523 2 12 6.477 2 12 2s10 4.477 10 10Zm-2 0a8 8 0 1 0-16 0 8 8 0 0 0 16 0Z"/>
</svg>`;function bh(){return`
    <style>
      :host([aria-expanded="true"]) slot[name=tooltip] {
        display: none;
      }
    </style>
    <slot name="icon">${gh}</slot>
  `}function fh(){return g("Audio")}var fu=t=>{let i=g("Audio");t.setAttribute("aria-label",i)},$t=class extends X{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_AUDIO_TRACK_ENABLED,a.MEDIA_AUDIO_TRACK_UNAVAILABLE]}connectedCallback(){super.connectedCallback(),fu(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_LANG&&fu(this)}get invokeTargetElement(){var i;return this.invokeTarget!=null?super.invokeTargetElement:(i=B(this))==null?void 0:i.querySelector("media-audio-track-menu")}get mediaAudioTrackEnabled(){var i;return(i=_(this,a.MEDIA_AUDIO_TRACK_ENABLED))!=null?i:""}set mediaAudioTrackEnabled(i){k(this,a.MEDIA_AUDIO_TRACK_ENABLED,i)}};$t.getSlotTemplateHTML=bh,$t.getTooltipContentHTML=fh;u.customElements.get("media-audio-track-menu-button")||u.customElements.define("media-audio-track-menu-button",$t);var vh=`
  <svg aria-hidden="true" viewBox="0 0 26 24" part="captions-indicator indicator">
    <path d="M22.83 5.68a2.58 2.58 0 0 0-2.3-2.5c-3.62-.24-11.44-.24-15.06 0a2.58 2.58 0 0 0-2.3 2.5c-.23 4.21-.23 8.43 0 12.64a2.58 2.58 0 0 0 2.3 2.5c3.62.24 11.44.24 15.06 0a2.58 2.58 0 0 0 2.3-2.5c.23-4.21.23-8.43 0-12.64Zm-11.39 9.45a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.92 3.92 0 0 1 .92-2.77 3.18 3.18 0 0 1 2.43-1 2.94 2.94 0 0 1 2.13.78c.364.359.62.813.74 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.17 1.61 1.61 0 0 0-1.29.58 2.79 2.79 0 0 0-.5 1.89 3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.48 1.48 0 0 0 1-.37 2.1 2.1 0 0 0 .59-1.14l1.4.44a3.23 3.23 0 0 1-1.07 1.69Zm7.22 0a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.88 3.88 0 0 1 .93-2.77 3.14 3.14 0 0 1 2.42-1 3 3 0 0 1 2.16.82 2.8 2.8 0 0 1 .73 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.21 1.61 1.61 0 0 0-1.29.58A2.79 2.79 0 0 0 15 12a3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.44 1.44 0 0 0 1-.37 2.1 2.1 0 0 0 .6-1.15l1.4.44a3.17 3.17 0 0 1-1.1 1.7Z"/>
  </svg>`;function Th(t){return`
    ${G.getTemplateHTML(t)}
    <slot name="captions-indicator" hidden>${vh}</slot>
  `}var Cn,Dn,ga,wn,ba,Xi=class extends G{constructor(){super(...arguments);c(this,Dn);c(this,wn);c(this,Cn,void 0)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_SUBTITLES_LIST,a.MEDIA_SUBTITLES_SHOWING]}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_SUBTITLES_LIST&&r!==n?p(this,Dn,ga).call(this):e===a.MEDIA_SUBTITLES_SHOWING&&r!==n&&(this.value=n||"",p(this,Dn,ga).call(this))}connectedCallback(){super.connectedCallback(),this.addEventListener("change",p(this,wn,ba))}disconnectedCallback(){super.disconnectedCallback(),this.removeEventListener("change",p(this,wn,ba))}get anchorElement(){return this.anchor!=="auto"?super.anchorElement:B(this).querySelector("media-captions-menu-button")}get mediaSubtitlesList(){return vu(this,a.MEDIA_SUBTITLES_LIST)}set mediaSubtitlesList(e){Tu(this,a.MEDIA_SUBTITLES_LIST,e)}get mediaSubtitlesShowing(){return vu(this,a.MEDIA_SUBTITLES_SHOWING)}set mediaSubtitlesShowing(e){Tu(this,a.MEDIA_SUBTITLES_SHOWING,e)}};Cn=new WeakMap,Dn=new WeakSet,ga=function(){var d;let e=s(this,Cn)!==JSON.stringify(this.mediaSubtitlesList),r=this.value!==this.getAttribute(a.MEDIA_SUBTITLES_SHOWING);if(!e&&!r)return;h(this,Cn,JSON.stringify(this.mediaSubtitlesList)),this.defaultSlot.textContent="";let n=!this.value,o=Ce({type:"radio",text:this.formatMenuItemText(g("Off")),value:"off",checked:n});o.prepend(Ae(this,"checked-indicator")),this.defaultSlot.append(o);let l=this.mediaSubtitlesList;for(let m of l){let E=Ce({type:"radio",text:this.formatMenuItemText(m.label,m),value:Mo(m),checked:this.value==Mo(m)});E.prepend(Ae(this,"checked-indicator")),((d=m.kind)!=null?d:"subs")==="captions"&&E.append(Ae(this,"captions-indicator")),this.defaultSlot.append(E)}},wn=new WeakSet,ba=function(){let e=this.mediaSubtitlesShowing,r=this.getAttribute(a.MEDIA_SUBTITLES_SHOWING),n=this.value!==r;if(e!=null&&e.length&&n&&this.dispatchEvent(new u.CustomEvent(b.MEDIA_DISABLE_SUBTITLES_REQUEST,{composed:!0,bubbles:!0,detail:e})),!this.value||!n)return;let o=new u.CustomEvent(b.MEDIA_SHOW_SUBTITLES_REQUEST,{composed:!0,bubbles:!0,detail:this.value});this.dispatchEvent(o)},Xi.getTemplateHTML=Th;var vu=(t,i)=>{let e=t.getAttribute(i);return e?At(e):[]},Tu=(t,i,e)=>{if(!(e!=null&&e.length)){t.removeAttribute(i);return}let r=Ne(e);t.getAttribute(i)!==r&&t.setAttribute(i,r)};u.customElements.get("media-captions-menu")||u.customElements.define("media-captions-menu",Xi);var Ah=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M22.83 5.68a2.58 2.58 0 0 0-2.3-2.5c-3.62-.24-11.44-.24-15.06 0a2.58 2.58 0 0 0-2.3 2.5c-.23 4.21-.23 8.43 0 12.64a2.58 2.58 0 0 0 2.3 2.5c3.62.24 11.44.24 15.06 0a2.58 2.58 0 0 0 2.3-2.5c.23-4.21.23-8.43 0-12.64Zm-11.39 9.45a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.92 3.92 0 0 1 .92-2.77 3.18 3.18 0 0 1 2.43-1 2.94 2.94 0 0 1 2.13.78c.364.359.62.813.74 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.17 1.61 1.61 0 0 0-1.29.58 2.79 2.79 0 0 0-.5 1.89 3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.48 1.48 0 0 0 1-.37 2.1 2.1 0 0 0 .59-1.14l1.4.44a3.23 3.23 0 0 1-1.07 1.69Zm7.22 0a3.07 3.07 0 0 1-1.91.57 3.06 3.06 0 0 1-2.34-1 3.75 3.75 0 0 1-.92-2.67 3.88 3.88 0 0 1 .93-2.77 3.14 3.14 0 0 1 2.42-1 3 3 0 0 1 2.16.82 2.8 2.8 0 0 1 .73 1.31l-1.43.35a1.49 1.49 0 0 0-1.51-1.21 1.61 1.61 0 0 0-1.29.58A2.79 2.79 0 0 0 15 12a3 3 0 0 0 .49 1.93 1.61 1.61 0 0 0 1.27.58 1.44 1.44 0 0 0 1-.37 2.1 2.1 0 0 0 .6-1.15l1.4.44a3.17 3.17 0 0 1-1.1 1.7Z"/>
</svg>`,yh=`<svg aria-hidden="true" viewBox="0 0 26 24">
  <path d="M17.73 14.09a1.4 1.4 0 0 1-1 .37 1.579 1.579 0 0 1-1.27-.58A3 3 0 0 1 15 12a2.8 2.8 0 0 1 .5-1.85 1.63 1.63 0 0 1 1.29-.57 1.47 1.47 0 0 1 1.51 1.2l1.43-.34A2.89 2.89 0 0 0 19 9.07a3 3 0 0 0-2.14-.78 3.14 3.14 0 0 0-2.42 1 3.91 3.91 0 0 0-.93 2.78 3.74 3.74 0 0 0 .92 2.66 3.07 3.07 0 0 0 2.34 1 3.07 3.07 0 0 0 1.91-.57 3.17 3.17 0 0 0 1.07-1.74l-1.4-.45c-.083.43-.3.822-.62 1.12Zm-7.22 0a1.43 1.43 0 0 1-1 .37 1.58 1.58 0 0 1-1.27-.58A3 3 0 0 1 7.76 12a2.8 2.8 0 0 1 .5-1.85 1.63 1.63 0 0 1 1.29-.57 1.47 1.47 0 0 1 1.51 1.2l1.43-.34a2.81 2.81 0 0 0-.74-1.32 2.94 2.94 0 0 0-2.13-.78 3.18 3.18 0 0 0-2.43 1 4 4 0 0 0-.92 2.78 3.74 3.74 0 0 0 .92 2.66 3.07 3.07 0 0 0 2.34 1 3.07 3.07 0 0 0 1.91-.57 3.23 3.23 0 0 0 1.07-1.74l-1.4-.45a2.06 2.06 0 0 1-.6 1.07Zm12.32-8.41a2.59 2.59 0 0 0-2.3-2.51C18.72 3.05 15.86 3 13 3c-2.86 0-5.72.05-7.53.17a2.59 2.59 0 0 0-2.3 2.51c-.23 4.207-.23 8.423 0 12.63a2.57 2.57 0 0 0 2.3 2.5c1.81.13 4.67.19 7.53.19 2.86 0 5.72-.06 7.53-.19a2.57 2.57 0 0 0 2.3-2.5c.23-4.207.23-8.423 0-12.63Zm-1.49 12.53a1.11 1.11 0 0 1-.91 1.11c-1.67.11-4.45.18-7.43.18-2.98 0-5.76-.07-7.43-.18a1.11 1.11 0 0 1-.91-1.11c-.21-4.14-.21-8.29 0-12.43a1.11 1.11 0 0 1 .91-1.11C7.24 4.56 10 4.49 13 4.49s5.76.07 7.43.18a1.11 1.11 0 0 1 .91 1.11c.21 4.14.21 8.29 0 12.43Z"/>
</svg>`;function Sh(){return`
    <style>
      :host([data-captions-enabled="true"]) slot[name=off] {
        display: none !important;
      }

      
      :host(:not([data-captions-enabled="true"])) slot[name=on] {
        display: none !important;
      }

      :host([aria-expanded="true"]) slot[name=tooltip] {
        display: none;
      }
    </style>

    <slot name="icon">
      <slot name="on">${Ah}</slot>
      <slot name="off">${yh}</slot>
    </slot>
  `}function Mh(){return g("Captions")}var Au=t=>{t.setAttribute("data-captions-enabled",Io(t).toString())},yu=t=>{t.setAttribute("aria-label",g("closed captions"))},Vt=class extends X{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_SUBTITLES_LIST,a.MEDIA_SUBTITLES_SHOWING,a.MEDIA_LANG]}connectedCallback(){super.connectedCallback(),yu(this),Au(this)}attributeChangedCallback(i,e,r){super.attributeChangedCallback(i,e,r),i===a.MEDIA_SUBTITLES_SHOWING?Au(this):i===a.MEDIA_LANG&&yu(this)}get invokeTargetElement(){var i;return this.invokeTarget!=null?super.invokeTargetElement:(i=B(this))==null?void 0:i.querySelector("media-captions-menu")}get mediaSubtitlesList(){return Su(this,a.MEDIA_SUBTITLES_LIST)}set mediaSubtitlesList(i){Mu(this,a.MEDIA_SUBTITLES_LIST,i)}get mediaSubtitlesShowing(){return Su(this,a.MEDIA_SUBTITLES_SHOWING)}set mediaSubtitlesShowing(i){Mu(this,a.MEDIA_SUBTITLES_SHOWING,i)}};Vt.getSlotTemplateHTML=Sh,Vt.getTooltipContentHTML=Mh;var Su=(t,i)=>{let e=t.getAttribute(i);return e?At(e):[]},Mu=(t,i,e)=>{if(!(e!=null&&e.length)){t.removeAttribute(i);return}let r=Ne(e);t.getAttribute(i)!==r&&t.setAttribute(i,r)};u.customElements.get("media-captions-menu-button")||u.customElements.define("media-captions-menu-button",Vt);var fa={RATES:"rates"},Ke,Kt,On,Un,va,Pn=class extends G{constructor(){super();c(this,Kt);c(this,Un);c(this,Ke,new Xe(this,fa.RATES,{defaultValue:Xs}));p(this,Kt,On).call(this)}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PLAYBACK_RATE,fa.RATES]}attributeChangedCallback(e,r,n){super.attributeChangedCallback(e,r,n),e===a.MEDIA_PLAYBACK_RATE&&r!=n?(this.value=n,p(this,Kt,On).call(this)):e===fa.RATES&&r!=n&&(s(this,Ke).value=n,p(this,Kt,On).call(this))}connectedCallback(){super.connectedCallback(),this.addEventListener("change",p(this,Un,va))}disconnectedCallback(){super.disconnectedCallback(),this.removeEventListener("change",p(this,Un,va))}get anchorElement(){return this.anchor!=="auto"?super.anchorElement:B(this).querySelector("media-playback-rate-menu-button")}get rates(){return s(this,Ke)}set rates(e){e?Array.isArray(e)?s(this,Ke).value=e.join(" "):typeof e=="string"&&(s(this,Ke).value=e):s(this,Ke).value="",p(this,Kt,On).call(this)}get mediaPlaybackRate(){return C(this,a.MEDIA_PLAYBACK_RATE,kt)}set mediaPlaybackRate(e){w(this,a.MEDIA_PLAYBACK_RATE,e)}};Ke=new WeakMap,Kt=new WeakSet,On=function(){this.defaultSlot.textContent="";let e=_e(this.mediaPlaybackRate),r=new Set(Array.from(s(this,Ke)).map(o=>_e(Number(o))));e>0&&!r.has(e)&&r.add(e);let n=Array.from(r).sort((o,l)=>o-l);for(let o of n){let l=Ce({type:"radio",text:this.formatMenuItemText(`${o}x`,o),value:o.toString(),checked:e===o});l.prepend(Ae(this,"checked-indicator")),this.defaultSlot.append(l)}},Un=new WeakSet,va=function(){if(!this.value)return;let e=new u.CustomEvent(b.MEDIA_PLAYBACK_RATE_REQUEST,{composed:!0,bubbles:!0,detail:this.value});this.dispatchEvent(e)};u.customElements.get("media-playback-rate-menu")||u.customElements.define("media-playback-rate-menu",Pn);var fs=1;function Ih(t){return`
    <style>
      :host {
        min-width: 5ch;
        padding: var(--media-button-padding, var(--media-control-padding, 10px 5px));
      }

      :host([aria-expanded="true"]) slot {
        display: block;
      }

      :host([aria-expanded="true"]) slot[name=tooltip] {
        display: none;
      }
    </style>
    <slot name="icon">${t.mediaplaybackrate?_e(+t.mediaplaybackrate):fs}x</slot>
  `}function Lh(){return g("Playback rate")}var Gt=class extends X{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_PLAYBACK_RATE]}constructor(){var i;super(),this.container=this.shadowRoot.querySelector('slot[name="icon"]'),this.container.innerHTML=`${_e((i=this.mediaPlaybackRate)!=null?i:fs)}x`}attributeChangedCallback(i,e,r){if(super.attributeChangedCallback(i,e,r),i===a.MEDIA_PLAYBACK_RATE){let n=r?+r:Number.NaN,o=_e(Number.isNaN(n)?fs:n);this.container.innerHTML=`${o}x`,this.setAttribute("aria-label",g("Playback rate {playbackRate}",{playbackRate:o}))}}get invokeTargetElement(){return this.invokeTarget!=null?super.invokeTargetElement:B(this).querySelector("media-playback-rate-menu")}get mediaPlaybackRate(){return C(this,a.MEDIA_PLAYBACK_RATE,fs)}set mediaPlaybackRate(i){w(this,a.MEDIA_PLAYBACK_RATE,i)}};Gt.getSlotTemplateHTML=Ih,Gt.getTooltipContentHTML=Lh;u.customElements.get("media-playback-rate-menu-button")||u.customElements.define("media-playback-rate-menu-button",Gt);var Ji,Se,qt,Hn,Fn,Ta,Nn=class extends G{constructor(){super(...arguments);c(this,qt);c(this,Fn);c(this,Ji,[]);c(this,Se,{})}static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_RENDITION_LIST,a.MEDIA_RENDITION_SELECTED,a.MEDIA_RENDITION_UNAVAILABLE,a.MEDIA_HEIGHT,a.MEDIA_WIDTH]}static formatMenuItemText(e,r){return super.formatMenuItemText(e,r)}static formatRendition(e,{showBitrate:r=!1}={}){let n=`${Math.min(e.width,e.height)}p`;if(r&&e.bitrate){let o=e.bitrate/1e6,l=`${o.toFixed(o<1?1:0)} Mbps`;return`${n} (${l})`}return this.formatMenuItemText(n,e)}static compareRendition(e,r){var n,o;return r.height===e.height?((n=r.bitrate)!=null?n:0)-((o=e.bitrate)!=null?o:0):r.height-e.height}attributeChangedCallback(e,r,n){if(super.attributeChangedCallback(e,r,n),r!==n)switch(e){case a.MEDIA_RENDITION_SELECTED:this.value=n!=null?n:"auto",p(this,qt,Hn).call(this);break;case a.MEDIA_RENDITION_LIST:h(this,Ji,rl(n)),p(this,qt,Hn).call(this);break;case a.MEDIA_HEIGHT:case a.MEDIA_WIDTH:p(this,qt,Hn).call(this);break}}connectedCallback(){super.connectedCallback(),this.addEventListener("change",p(this,Fn,Ta))}disconnectedCallback(){super.disconnectedCallback(),this.removeEventListener("change",p(this,Fn,Ta))}get anchorElement(){return this.anchor!=="auto"?super.anchorElement:B(this).querySelector("media-rendition-menu-button")}get mediaRenditionList(){return s(this,Ji)}set mediaRenditionList(e){h(this,Ji,e),p(this,qt,Hn).call(this)}get mediaRenditionSelected(){return _(this,a.MEDIA_RENDITION_SELECTED)}set mediaRenditionSelected(e){k(this,a.MEDIA_RENDITION_SELECTED,e)}get mediaHeight(){return C(this,a.MEDIA_HEIGHT)}set mediaHeight(e){w(this,a.MEDIA_HEIGHT,e)}get mediaWidth(){return C(this,a.MEDIA_WIDTH)}set mediaWidth(e){w(this,a.MEDIA_WIDTH,e)}compareRendition(e,r){return this.constructor.compareRendition(e,r)}formatMenuItemText(e,r){return this.constructor.formatMenuItemText(e,r)}formatRendition(e,r){return this.constructor.formatRendition(e,r)}showRenditionBitrate(e){return this.mediaRenditionList.some(r=>r!==e&&r.height===e.height&&r.bitrate!==e.bitrate)}};Ji=new WeakMap,Se=new WeakMap,qt=new WeakSet,Hn=function(){let e=!this.mediaRenditionSelected;if(s(this,Se).mediaRenditionList===JSON.stringify(this.mediaRenditionList)&&s(this,Se).mediaHeight===this.mediaHeight&&s(this,Se).mediaWidth===this.mediaWidth&&s(this,Se).isAuto===e)return;s(this,Se).mediaRenditionList=JSON.stringify(this.mediaRenditionList),s(this,Se).mediaHeight=this.mediaHeight,s(this,Se).mediaWidth=this.mediaWidth,s(this,Se).isAuto=e;let r=this.mediaRenditionList.sort(this.compareRendition.bind(this)),n=r.find(m=>m.id===this.mediaRenditionSelected);for(let m of r)m.selected=m===n;this.defaultSlot.textContent="";for(let m of r){let E=this.formatRendition(m,{showBitrate:this.showRenditionBitrate(m)}),v=Ce({type:"radio",text:E,value:`${m.id}`,checked:m.selected&&!e});v.prepend(Ae(this,"checked-indicator")),this.defaultSlot.append(v)}let o=n&&this.showRenditionBitrate(n),l;e&&(n?l=this.formatMenuItemText(`${g("Auto")} \u2022 ${this.formatRendition(n,{showBitrate:o})}`,n):this.mediaHeight>0&&this.mediaWidth>0&&(l=this.formatMenuItemText(`${g("Auto")} (${Math.min(this.mediaWidth,this.mediaHeight)}p)`))),l||(l=this.formatMenuItemText(g("Auto")));let d=Ce({type:"radio",text:l,value:"auto",checked:e});d.dataset.description=l,d.prepend(Ae(this,"checked-indicator")),this.defaultSlot.append(d)},Fn=new WeakSet,Ta=function(){if(this.value==null)return;let e=new u.CustomEvent(b.MEDIA_RENDITION_REQUEST,{composed:!0,bubbles:!0,detail:this.value});this.dispatchEvent(e)};u.customElements.get("media-rendition-menu")||u.customElements.define("media-rendition-menu",Nn);var kh=`<svg aria-hidden="true" viewBox="0 0 24 24">
  <path d="M13.5 2.5h2v6h-2v-2h-11v-2h11v-2Zm4 2h4v2h-4v-2Zm-12 4h2v6h-2v-2h-3v-2h3v-2Zm4 2h12v2h-12v-2Zm1 4h2v6h-2v-2h-8v-2h8v-2Zm4 2h7v2h-7v-2Z" />
</svg>`;function _h(){return`
    <style>
      :host([aria-expanded="true"]) slot[name=tooltip] {
        display: none;
      }
    </style>
    <slot name="icon">${kh}</slot>
  `}function Rh(){return g("Quality")}var Wt=class extends X{static get observedAttributes(){return[...super.observedAttributes,a.MEDIA_RENDITION_SELECTED,a.MEDIA_RENDITION_UNAVAILABLE,a.MEDIA_HEIGHT]}connectedCallback(){super.connectedCallback(),this.setAttribute("aria-label",g("quality"))}get invokeTargetElement(){return this.invokeTarget!=null?super.invokeTargetElement:B(this).querySelector("media-rendition-menu")}get mediaRenditionSelected(){return _(this,a.MEDIA_RENDITION_SELECTED)}set mediaRenditionSelected(i){k(this,a.MEDIA_RENDITION_SELECTED,i)}get mediaHeight(){return C(this,a.MEDIA_HEIGHT)}set mediaHeight(i){w(this,a.MEDIA_HEIGHT,i)}};Wt.getSlotTemplateHTML=_h,Wt.getTooltipContentHTML=Rh;u.customElements.get("media-rendition-menu-button")||u.customElements.define("media-rendition-menu-button",Wt);function xh(t){return`
      ${G.getTemplateHTML(t)}
      <style>
        :host {
          --_menu-bg: rgb(20 20 30 / .8);
          background: var(--media-settings-menu-background,
            var(--media-menu-background,
              var(--media-control-background,
                var(--media-secondary-color, var(--_menu-bg)))));
          min-width: var(--media-settings-menu-min-width, 170px);
          border-radius: 2px;
          overflow: hidden;
        }
      </style>
    `}var Yt,ir,vs,st,er,Ts,Iu,Bn,Aa,$n,As,Lu,Vn,Kn,Gn,tr=class extends G{constructor(){super();c(this,ir);c(this,st);c(this,Ts);c(this,Bn);c(this,As);c(this,Yt,!1);c(this,$n,e=>{let r=e.target,n=(r==null?void 0:r.nodeName)==="VIDEO",o=p(this,Bn,Aa).call(this,r);(n||o)&&(s(this,Yt)?p(this,st,er).call(this):p(this,As,Lu).call(this,e))});c(this,Vn,e=>{let r=e.target,n=this.contains(r),o=e.button===2,l=(r==null?void 0:r.nodeName)==="VIDEO",d=p(this,Bn,Aa).call(this,r);n||o&&(l||d)||p(this,st,er).call(this)});c(this,Kn,e=>{e.key==="Escape"&&p(this,st,er).call(this)});c(this,Gn,e=>{var n,o;let r=e.target;if((n=r.matches)!=null&&n.call(r,'button[invoke="copy"]')){let l=(o=r.closest("media-context-menu-item"))==null?void 0:o.querySelector('input[slot="copy"]');l&&navigator.clipboard.writeText(l.value)}p(this,st,er).call(this)});this.setAttribute("noautohide",""),p(this,ir,vs).call(this)}connectedCallback(){super.connectedCallback(),B(this).addEventListener("contextmenu",s(this,$n)),this.addEventListener("click",s(this,Gn))}disconnectedCallback(){super.disconnectedCallback(),B(this).removeEventListener("contextmenu",s(this,$n)),this.removeEventListener("click",s(this,Gn)),document.removeEventListener("mousedown",s(this,Vn)),document.removeEventListener("keydown",s(this,Kn))}};Yt=new WeakMap,ir=new WeakSet,vs=function(){this.hidden=!s(this,Yt)},st=new WeakSet,er=function(){h(this,Yt,!1),p(this,ir,vs).call(this)},Ts=new WeakSet,Iu=function(){document.querySelectorAll("media-context-menu").forEach(r=>{var n;r!==this&&p(n=r,st,er).call(n)})},Bn=new WeakSet,Aa=function(e){return e?e.hasAttribute("slot")&&e.getAttribute("slot")==="media"?!0:e.nodeName.includes("-")&&e.tagName.includes("-")?e.hasAttribute("src")||e.hasAttribute("poster")||e.hasAttribute("preload")||e.hasAttribute("playsinline"):!1:!1},$n=new WeakMap,As=new WeakSet,Lu=function(e){e.preventDefault(),p(this,Ts,Iu).call(this),h(this,Yt,!0),this.style.position="fixed",this.style.left=`${e.clientX}px`,this.style.top=`${e.clientY}px`,p(this,ir,vs).call(this),document.addEventListener("mousedown",s(this,Vn),{once:!0}),document.addEventListener("keydown",s(this,Kn),{once:!0})},Vn=new WeakMap,Kn=new WeakMap,Gn=new WeakMap,tr.getTemplateHTML=xh;u.customElements.get("media-context-menu")||u.customElements.define("media-context-menu",tr);function Ch(t){return`
    ${te.getTemplateHTML.call(this,t)}
    <style>
        ::slotted(*) {
            color: var(--media-text-color, white);
            text-decoration: none;
            border: none;
            background: none;
            cursor: pointer;
            padding: 0;
            min-height: var(--media-control-height, 24px);
        }
    </style>
  `}var jt=class extends te{};jt.shadowRootOptions={mode:"open"},jt.getTemplateHTML=Ch;u.customElements.get("media-context-menu-item")||u.customElements.define("media-context-menu-item",jt);var ku=1,_u=0,Dh=1,xu={processCallback(t,i,e){if(e){for(let[r,n]of i)if(r in e){let o=e[r];typeof o=="boolean"&&n instanceof Me&&typeof n.element[n.attributeName]=="boolean"?n.booleanValue=o:typeof o=="function"&&n instanceof Me?n.element[n.attributeName]=o:n.value=o}}}},Qt,Yn,dt=class extends u.DocumentFragment{constructor(e,r,n=xu){var o;super();c(this,Qt,void 0);c(this,Yn,void 0);this.append(e.content.cloneNode(!0)),h(this,Qt,Sa(this)),h(this,Yn,n),(o=n.createCallback)==null||o.call(n,this,s(this,Qt),r),n.processCallback(this,s(this,Qt),r)}update(e){s(this,Yn).processCallback(this,s(this,Qt),e)}};Qt=new WeakMap,Yn=new WeakMap;var Sa=(t,i=[])=>{let e,r;for(let n of t.attributes||[])if(n.value.includes("{{")){let o=new ys;for([e,r]of ya(n.value))if(!e)o.append(r);else{let l=new Me(t,n.name,n.namespaceURI);o.append(l),i.push([r,l])}n.value=o.toString()}for(let n of t.childNodes)if(n.nodeType===ku&&!(n instanceof HTMLTemplateElement))Sa(n,i);else{let o=n.data;if(n.nodeType===ku||o.includes("{{")){let l=[];if(o)for([e,r]of ya(o))if(!e)l.push(new Text(r));else{let d=new Wn(t);l.push(d),i.push([r,d])}else if(n instanceof HTMLTemplateElement){let d=new or(t,n);l.push(d),i.push([d.expression,d])}n.replaceWith(...l.flatMap(d=>d.replacementNodes||[d]))}}return i},Ru={},ya=t=>{let i="",e=0,r=Ru[t],n=0,o;if(r)return r;for(r=[];o=t[n];n++)o==="{"&&t[n+1]==="{"&&t[n-1]!=="\\"&&t[n+2]&&++e==1?(i&&r.push([_u,i]),i="",n++):o==="}"&&t[n+1]==="}"&&t[n-1]!=="\\"&&!--e?(r.push([Dh,i.trim()]),i="",n++):i+=o||"";return i&&r.push([_u,(e>0?"{{":"")+i]),Ru[t]=r},wh=11,qn=class{get value(){return""}set value(i){}toString(){return this.value}},Cu=new WeakMap,at,ys=class{constructor(){c(this,at,[])}[Symbol.iterator](){return s(this,at).values()}get length(){return s(this,at).length}item(i){return s(this,at)[i]}append(...i){for(let e of i)e instanceof Me&&Cu.set(e,this),s(this,at).push(e)}toString(){return s(this,at).join("")}};at=new WeakMap;var nr,Ge,qe,We,lt,rr,Me=class extends qn{constructor(e,r,n){super();c(this,lt);c(this,nr,"");c(this,Ge,void 0);c(this,qe,void 0);c(this,We,void 0);h(this,Ge,e),h(this,qe,r),h(this,We,n)}get attributeName(){return s(this,qe)}get attributeNamespace(){return s(this,We)}get element(){return s(this,Ge)}get value(){return s(this,nr)}set value(e){s(this,nr)!==e&&(h(this,nr,e),!s(this,lt,rr)||s(this,lt,rr).length===1?e==null?s(this,Ge).removeAttributeNS(s(this,We),s(this,qe)):s(this,Ge).setAttributeNS(s(this,We),s(this,qe),e):s(this,Ge).setAttributeNS(s(this,We),s(this,qe),s(this,lt,rr).toString()))}get booleanValue(){return s(this,Ge).hasAttributeNS(s(this,We),s(this,qe))}set booleanValue(e){if(!s(this,lt,rr)||s(this,lt,rr).length===1)this.value=e?"":null;else throw new DOMException("Value is not fully templatized")}};nr=new WeakMap,Ge=new WeakMap,qe=new WeakMap,We=new WeakMap,lt=new WeakSet,rr=function(){return Cu.get(this)};var jn,se,Wn=class extends qn{constructor(e,r){super();c(this,jn,void 0);c(this,se,void 0);h(this,jn,e),h(this,se,r?[...r]:[new Text])}get replacementNodes(){return s(this,se)}get parentNode(){return s(this,jn)}get nextSibling(){return s(this,se)[s(this,se).length-1].nextSibling}get previousSibling(){return s(this,se)[0].previousSibling}get value(){return s(this,se).map(e=>e.textContent).join("")}set value(e){this.replace(e)}replace(...e){let r=e.flat().flatMap(n=>n==null?[new Text]:n.forEach?[...n]:n.nodeType===wh?[...n.childNodes]:n.nodeType?[n]:[new Text(n)]);r.length||r.push(new Text),h(this,se,Oh(s(this,se)[0].parentNode,s(this,se),r,this.nextSibling))}};jn=new WeakMap,se=new WeakMap;var or=class extends Wn{constructor(i,e){let r=e.getAttribute("directive")||e.getAttribute("type"),n=e.getAttribute("expression")||e.getAttribute(r)||"";n.startsWith("{{")&&(n=n.trim().slice(2,-2).trim()),super(i),this.expression=n,this.template=e,this.directive=r}};function Oh(t,i,e,r=null){let n=0,o,l,d,m=e.length,E=i.length;for(;n<m&&n<E&&i[n]==e[n];)n++;for(;n<m&&n<E&&e[m-1]==i[E-1];)r=e[--E,--m];if(n==E)for(;n<m;)t.insertBefore(e[n++],r);if(n==m)for(;n<E;)t.removeChild(i[n++]);else{for(o=i[n];n<m;)d=e[n++],l=o?o.nextSibling:r,o==d?o=l:n<m&&e[n]==l?(t.replaceChild(d,o),o=l):t.insertBefore(d,o);for(;o!=r;)l=o.nextSibling,t.removeChild(o),o=l}return e}var Ma={string:t=>String(t)},Is=class{constructor(i){this.template=i,this.state=void 0}},zt=new WeakMap,Zt=new WeakMap,Ms={partial:(t,i)=>{i[t.expression]=new Is(t.template)},if:(t,i)=>{var e;if(wu(t.expression,i))if(zt.get(t)!==t.template){zt.set(t,t.template);let r=new dt(t.template,i,Ls);t.replace(r),Zt.set(t,r)}else(e=Zt.get(t))==null||e.update(i);else t.replace(""),zt.delete(t),Zt.delete(t)}},Ph=Object.keys(Ms),Ls={processCallback(t,i,e){var r,n;if(e)for(let[o,l]of i){if(l instanceof or){if(!l.directive){let m=Ph.find(E=>l.template.hasAttribute(E));m&&(l.directive=m,l.expression=l.template.getAttribute(m))}(r=Ms[l.directive])==null||r.call(Ms,l,e);continue}let d=wu(o,e);if(d instanceof Is){zt.get(l)!==d.template?(zt.set(l,d.template),d=new dt(d.template,d.state,Ls),l.value=d,Zt.set(l,d)):(n=Zt.get(l))==null||n.update(d.state);continue}d?(l instanceof Me&&l.attributeName.startsWith("aria-")&&(d=String(d)),l instanceof Me?typeof d=="boolean"?l.booleanValue=d:typeof d=="function"?l.element[l.attributeName]=d:l.value=d:(l.value=d,zt.delete(l),Zt.delete(l))):l instanceof Me?l.value=void 0:(l.value=void 0,zt.delete(l),Zt.delete(l))}}},Du={"!":t=>!t,"!!":t=>!!t,"==":(t,i)=>t==i,"!=":(t,i)=>t!=i,">":(t,i)=>t>i,">=":(t,i)=>t>=i,"<":(t,i)=>t<i,"<=":(t,i)=>t<=i,"??":(t,i)=>t!=null?t:i,"|":(t,i)=>{var e;return(e=Ma[i])==null?void 0:e.call(Ma,t)}};function Uh(t){return Hh(t,{boolean:/true|false/,number:/-?\d+\.?\d*/,string:/(["'])((?:\\.|[^\\])*?)\1/,operator:/[!=><][=!]?|\?\?|\|/,ws:/\s+/,param:/[$a-z_][$\w]*/i}).filter(({type:i})=>i!=="ws")}function wu(t,i={}){var r,n,o,l,d,m,E;let e=Uh(t);if(e.length===0||e.some(({type:v})=>!v))return Qn(t);if(((r=e[0])==null?void 0:r.token)===">"){let v=i[(n=e[1])==null?void 0:n.token];if(!v)return Qn(t);let y={...i};v.state=y;let T=e.slice(2);for(let A=0;A<T.length;A+=3){let D=(o=T[A])==null?void 0:o.token,L=(l=T[A+1])==null?void 0:l.token,R=(d=T[A+2])==null?void 0:d.token;D&&L==="="&&(y[D]=zn(R,i))}return v}if(e.length===1)return Ss(e[0])?zn(e[0].token,i):Qn(t);if(e.length===2){let v=(m=e[0])==null?void 0:m.token,y=Du[v];if(!y||!Ss(e[1]))return Qn(t);let T=zn(e[1].token,i);return y(T)}if(e.length===3){let v=(E=e[1])==null?void 0:E.token,y=Du[v];if(!y||!Ss(e[0])||!Ss(e[2]))return Qn(t);let T=zn(e[0].token,i);if(v==="|")return y(T,e[2].token);let A=zn(e[2].token,i);return y(T,A)}}function Qn(t){return console.warn(`Warning: invalid expression \`${t}\``),!1}function Ss({type:t}){return["number","boolean","string","param"].includes(t)}function zn(t,i){let e=t[0],r=t.slice(-1);return t==="true"||t==="false"?t==="true":e===r&&["'",'"'].includes(e)?t.slice(1,-1):io(t)?parseFloat(t):i[t]}function Hh(t,i){let e,r,n,o=[];for(;t;){n=null,e=t.length;for(let l in i)r=i[l].exec(t),r&&r.index<e&&(n={token:r[0],type:l,matches:r.slice(1)},e=r.index);e&&o.push({token:t.substr(0,e),type:void 0}),n&&o.push(n),t=t.substr(e+(n?n.token.length:0))}return o}var Ia={mediatargetlivewindow:"targetlivewindow",mediastreamtype:"streamtype"},Ou=F.createElement("template");Ou.innerHTML=`
  <style>
    :host {
      display: inline-block;
      line-height: 0;
    }

    media-controller {
      width: 100%;
      height: 100%;
    }

    media-captions-button:not([mediasubtitleslist]),
    media-captions-menu:not([mediasubtitleslist]),
    media-captions-menu-button:not([mediasubtitleslist]),
    media-audio-track-menu[mediaaudiotrackunavailable],
    media-audio-track-menu-button[mediaaudiotrackunavailable],
    media-rendition-menu[mediarenditionunavailable],
    media-rendition-menu-button[mediarenditionunavailable],
    media-volume-range[mediavolumeunavailable],
    media-airplay-button[mediaairplayunavailable],
    media-fullscreen-button[mediafullscreenunavailable],
    media-cast-button[mediacastunavailable],
    media-pip-button[mediapipunavailable] {
      display: none;
    }
  </style>
`;var Xt,Zn,Jt,ei,ks,Pu,Xn,La,ar,sr=class extends u.HTMLElement{constructor(){super();c(this,ks);c(this,Xn);c(this,Xt,void 0);c(this,Zn,void 0);c(this,Jt,void 0);c(this,ei,void 0);c(this,ar,void 0);this.shadowRoot?this.renderRoot=this.shadowRoot:(this.renderRoot=this.attachShadow({mode:"open"}),this.createRenderer()),h(this,ei,new MutationObserver(e=>{var r;this.mediaController&&!((r=this.mediaController)!=null&&r.breakpointsComputed)||e.some(n=>{let o=n.target;return o===this?!0:o.localName!=="media-controller"?!1:!!(Ia[n.attributeName]||n.attributeName.startsWith("breakpoint"))})&&this.render()})),h(this,ar,this.render.bind(this)),p(this,ks,Pu).call(this,"template")}get mediaController(){return this.renderRoot.querySelector("media-controller")}get template(){var e;return(e=s(this,Xt))!=null?e:this.constructor.template}set template(e){if(e===null){this.removeAttribute("template");return}typeof e=="string"?this.setAttribute("template",e):e instanceof HTMLTemplateElement&&(h(this,Xt,e),h(this,Jt,null),this.createRenderer())}get props(){var n,o,l;let e=[...Array.from((o=(n=this.mediaController)==null?void 0:n.attributes)!=null?o:[]).filter(({name:d})=>Ia[d]||d.startsWith("breakpoint")),...Array.from(this.attributes)],r={};for(let d of e){let m=(l=Ia[d.name])!=null?l:sl(d.name),{value:E}=d;E!=null?(io(E)&&(E=parseFloat(E)),r[m]=E===""?!0:E):r[m]=!1}return r}attributeChangedCallback(e,r,n){e==="template"&&r!=n&&p(this,Xn,La).call(this)}connectedCallback(){this.addEventListener(de.BREAKPOINTS_COMPUTED,s(this,ar)),s(this,ei).observe(this,{attributes:!0}),s(this,ei).observe(this.renderRoot,{attributes:!0,subtree:!0}),p(this,Xn,La).call(this)}disconnectedCallback(){this.removeEventListener(de.BREAKPOINTS_COMPUTED,s(this,ar)),s(this,ei).disconnect()}createRenderer(){this.template instanceof HTMLTemplateElement&&this.template!==s(this,Zn)&&(h(this,Zn,this.template),this.renderer=new dt(this.template,this.props,this.constructor.processor),this.renderRoot.textContent="",this.renderRoot.append(Ou.content.cloneNode(!0),this.renderer))}render(){var e;(e=this.renderer)==null||e.update(this.props)}};Xt=new WeakMap,Zn=new WeakMap,Jt=new WeakMap,ei=new WeakMap,ks=new WeakSet,Pu=function(e){if(Object.prototype.hasOwnProperty.call(this,e)){let r=this[e];delete this[e],this[e]=r}},Xn=new WeakSet,La=function(){var o;let e=this.getAttribute("template");if(!e||e===s(this,Jt))return;let r=this.getRootNode(),n=(o=r==null?void 0:r.getElementById)==null?void 0:o.call(r,e);if(n){h(this,Jt,e),h(this,Xt,n),this.createRenderer();return}Nh(e)&&(h(this,Jt,e),Fh(e).then(l=>{let d=F.createElement("template");d.innerHTML=l,h(this,Xt,d),this.createRenderer()}).catch(console.error))},ar=new WeakMap,sr.observedAttributes=["template"],sr.processor=Ls;function Nh(t){if(!/^(\/|\.\/|https?:\/\/)/.test(t))return!1;let i=/^https?:\/\//.test(t)?void 0:location.origin;try{new URL(t,i)}catch{return!1}return!0}async function Fh(t){let i=await fetch(t);if(i.status!==200)throw new Error(`Failed to load resource: the server responded with a status of ${i.status}`);return i.text()}u.customElements.get("media-theme")||u.customElements.define("media-theme",sr);return Yu(Bh);})();
//# sourceMappingURL=all.js.map
